#include "frontend/check/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/fold.hpp"
#include "frontend/check/launch.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/regions.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// A long list of plain numbers, without a call for each of them. Nothing if anything else stands in it.
std::optional<List> plain_numbers(const ast::ListExpr& list, bool& floats) {
  List values;
  values.reserve(list.parts.size());
  for (const ast::Expr& part : list.parts) {
    if (auto* integer = std::get_if<ast::IntLit>(&part.node)) {
      values.push_back(Value(integer->value));
    } else if (auto* real = std::get_if<ast::FloatLit>(&part.node)) {
      values.push_back(Value(real->value));
      floats = true;
    } else {
      return std::nullopt;
    }
  }
  return values;
}

class Expressions {
 public:
  Expressions(Body& body, Span span, const Type* expected) : body_(body), span_(span), expected_(expected) {}

  Term operator()(const ast::NameExpr& node) { return read_name(body_, node.name); }
  Term operator()(const ast::IntLit& node) { return body_.constant(Value(node.value), Kind::integer, span_); }
  Term operator()(const ast::FloatLit& node) { return body_.constant(Value(node.value), Kind::real, span_); }
  Term operator()(const ast::StringLit& node) { return body_.constant(Value(node.value), Kind::string, span_); }
  Term operator()(const ast::Given& node) { return body_.constant(Value(node.array), node.array.type().type(), span_); }
  Term operator()(const ast::BoolLit& node) { return body_.constant(Value(node.value), Kind::boolean, span_); }

  Term operator()(const ast::TupleExpr& node) {
    std::vector<Term> parts;
    std::vector<Type> types;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      bool known = expected_ && expected_->is(Kind::tuple) && i < expected_->parts.size();
      parts.push_back(wanted(node.parts[i], known ? &expected_->parts[i] : nullptr));
      if (body_.is_error(parts.back())) failed_ = true;
      types.push_back(body_.type(parts.back()));
    }
    if (failed_) return body_.error(span_);
    Type type = Type::tuple(std::move(types));
    if (std::optional<List> known = constant_parts(body_, parts))
      return body_.constant(Value(Tuple{std::move(*known)}), std::move(type), span_);
    return body_.make(Form::tuple, std::move(type), span_, parts);
  }

  Term operator()(const ast::ListExpr& node) {
    const Type* element = expected_ && expected_->is(Kind::list) ? &expected_->parts[0] : nullptr;
    constexpr std::size_t is_long = 64;
    bool floats = element && element->is(Kind::real);
    if (std::optional<List> numbers = node.parts.size() > is_long ? plain_numbers(node, floats) : std::nullopt) {
      Term list = body_.constant(Value(std::move(*numbers)), Type::list(Kind::error), span_);
      return adapt(body_, list, Type::list(floats ? Kind::real : Kind::integer));
    }
    std::vector<Term> parts;
    for (const ast::Expr& part : node.parts) {
      parts.push_back(wanted(part, element));
      if (body_.is_error(parts.back())) failed_ = true;
    }
    if (failed_) return body_.error(span_);
    if (parts.empty()) return body_.constant(Value(List{}), element ? *expected_ : Type::list(Kind::error), span_);
    return list_of(body_, parts, span_, element);
  }

  Term operator()(const ast::RangeExpr& node) {
    Term low = bound(*node.low), high = bound(*node.high);
    if (body_.is_error(low) || body_.is_error(high)) return body_.error(span_);
    if (std::optional<List> known = constant_parts(body_, {low, high}))
      return body_.constant(Value(Range{(*known)[0].integer(), (*known)[1].integer()}), Kind::range, span_);
    return body_.make(Form::range, Kind::range, span_, {low, high});
  }

  Term operator()(const ast::Lambda&) { return unreachable_lambda(); }
  Term operator()(const ast::Member& node) { return member_expression(body_, node, span_); }
  Term operator()(const ast::Call& node) { return call_expression(body_, node, span_); }
  Term operator()(const ast::Index& node) { return index_expression(body_, node, span_); }
  Term operator()(const ast::Unary& node) { return unary_expression(body_, node, span_); }
  Term operator()(const ast::Binary& node) { return binary_expression(body_, node, span_); }
  Term operator()(const ast::Cast& node) { return cast_expression(body_, node, span_); }
  Term operator()(const ast::Run& node) { return run_expression(body_, node, span_); }
  Term operator()(const ast::Launch& node) { return launch_expression(body_, node, span_); }
  Term operator()(const ast::RegionExpr& node) { return region_expression(body_, node, span_); }

 private:
  Term wanted(const ast::Expr& part, const Type* type) {
    Term value = expression(body_, part, type);
    return type ? adapt_part(body_, value, *type) : value;
  }

  Term bound(const ast::Expr& expr) {
    const Term given = output_of(body_, expression(body_, expr));
    const Type type = body_.type(given);
    if (type.is_tensor() && takes_views(body_.function())) return bound_of_point(given, type);
    return convert(body_, given, Kind::integer, {"the bound of a range", {}});
  }

  // for k in rows[i].first..rows[i].last: in a body over views, which has them at hand.
  Term bound_of_point(const Term& given, const Type& type) {
    if (type.rank() == 0 && type.precision == Precision::i64) {
      const Term made = body_.make(Form::receive, Kind::integer, given.span, {given});
      body_[made.id].index = static_cast<std::uint32_t>(Receive::scalar);
      return made;
    }
    wrong_type(body_.world.diags, given.span, fmt::format("the bound of a range is int, this is {}", type.text()))
        .help(type.rank() > 0 ? "take one of its elements" : "convert it: (...) as i64");
    return body_.error(given.span);
  }

  Term unreachable_lambda() {
    Diag& diag = wrong_type(body_.world.diags, span_, "the parameters of this function have no types here");
    diag.help("pass it to something that says them, such as map(l, x => ...) or a parameter f: fn(int) -> int");
    return body_.error(span_);
  }

  Body& body_;
  Span span_;
  const Type* expected_;
  bool failed_ = false;
};

}  // namespace

Term expression(Body& body, const ast::Expr& expr, const Type* expected) {
  bool function = expected && expected->is(Kind::function);
  if (function && is_untyped_function(body, expr)) {
    std::vector<Type> parameters(expected->parts.begin(), expected->parts.end() - 1);
    return function_value(body, expr, parameters, &expected->parts.back());
  }
  return std::visit(Expressions(body, expr.span, expected), expr.node);
}

namespace {

// The type of a list's items that holds both, where they differ in extents only: "(f32[_, 2], i32[_])".
std::optional<std::string> open_type(const Type& one, const Type& two) {
  if (one == two) return one.text();
  std::vector<std::string> parts;
  const bool tensors = one.is_tensor() && two.is_tensor() && one.precision == two.precision;
  const bool regions = one.is(Kind::region) && two.is(Kind::region) && one.fields == two.fields;
  if ((tensors || regions) && one.dims.size() == two.dims.size()) {
    for (std::size_t axis = 0; axis < one.dims.size(); ++axis)
      parts.push_back(one.dims[axis] == two.dims[axis] ? one.dims[axis].text() : "_");
    const std::string text = one.text();
    return fmt::format("{}[{}]", text.substr(0, text.find('[')), joined(parts, ", "));
  }
  if (!one.is(Kind::tuple) || !two.is(Kind::tuple) || one.parts.size() != two.parts.size()) return std::nullopt;
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    std::optional<std::string> part = open_type(one.parts[i], two.parts[i]);
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
  }
  return "(" + joined(parts, ", ") + ")";
}

// The two parts of a list do not go together.
Term refuse_parts(Body& body, const Term& first, const Term& other, Span span) {
  const Type one = body.type(first), two = body.type(other);
  auto text = [&](const Type& type) {
    return type.is(Kind::agent) ? fmt::format("agent '{}'", body.world.program[type.agent].name) : type.text();
  };
  Diag& diag = wrong_type(body.world.diags, other.span,
                          fmt::format("a list holds values of one type, here {} and {}", text(one), text(two)));
  diag.at(text(two)).label(first.span, text(one));
  if (const auto open = open_type(one, two))
    diag.help(fmt::format("say that shapes differ: let l: [{}] = ...", *open));
  else if (one.is_host() && two.is_host())
    diag.help("a tuple holds values of several types: (1, \"a\")");
  return body.error(span);
}

}  // namespace

Term list_of(Body& body, const std::vector<Term>& values, Span span, const Type* wanted) {
  std::vector<Term> parts;
  for (const Term& value : values) parts.push_back(output_of(body, value));
  std::optional<Type> element = body.type(parts[0]);
  std::size_t i = 1;
  for (; element && i < parts.size(); ++i) element = common_type(*element, body.type(parts[i]));
  auto fits = [&](const Term& part) {
    return Match(body, Match::foreign).fits(Type::list(*wanted), Type::list(body.type(part)));
  };
  if (!element && wanted && std::all_of(parts.begin(), parts.end(), fits)) element = *wanted;
  if (!element) return refuse_parts(body, parts[0], parts[i - 1], span);
  Type type = Type::list(*element);
  if (std::optional<List> known = constant_parts(body, parts))
    return adapt(body, body.constant(Value(std::move(*known)), Type::list(Kind::error), span), type);
  for (Term& part : parts) part = adapt(body, part, *element);
  return body.make(Form::list, std::move(type), span, parts);
}

Term element_of(Body& body, const Term& tuple, std::size_t index, Span span) {
  Type type = body.type(tuple).parts[index];
  if (const std::optional<Value> known = body.known(tuple.id); known && body[tuple.id].form == Form::constant)
    return body.constant(Value(known->tuple().items[index]), std::move(type), span);
  Term element = body.make(Form::element, std::move(type), span, {tuple});
  body[element.id].index = static_cast<std::uint32_t>(index);
  return element;
}

Term graph_part(Body& body, const Term& condition) {
  Term at = condition;
  for (;;) {
    const Call& call = body[at.id];
    bool is_operator = call.form == Form::op && !call.op->symbol.empty() && call.op->symbol != "[]";
    if (!is_operator) return at;
    std::size_t part = 0;
    auto graph = [&](std::size_t i) { return body.type(call.in[i]).is_tensor(); };
    while (part < call.in.size() && !(call.in[part].valid() && graph(part))) ++part;
    if (part == call.in.size() || part >= call.in_spans.size()) return at;
    at = {call.in[part], call.in_spans[part]};
  }
}

}  // namespace taskspec::checking
