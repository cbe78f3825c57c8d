// Operators: each is an op of the table, found by its symbol; `&& ||` on host bools stop early, `>>` composes.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/compose.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/regions.hpp"
#include "frontend/check/types.hpp"
#include "ir/records/rules.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// ---- && and || ----

// Done wherever it stands: it takes little time, cannot fail, and changes nothing.
bool is_total(const Call& call) {
  if (!call.guards.empty() || !call.places.empty() || !call.blocks.empty()) return false;
  if (!call.op) return call.form->cheap && !call.form->is_statement() && call.form->fails == FormRecord::Fails::never;
  const Type& type = call.type;
  if (!type.is_tensor()) return type.is(Kind::boolean) || type.is(Kind::real);
  const bool fails = call.op->divides && is_integer(type.precision);
  return call.op->fusion == Fusion::pointwise && !fails;
}

class Logic {
 public:
  Logic(Body& body, const ast::Binary& binary, Span span)
      : body_(body), binary_(binary), span_(span), both_(binary.op.text == "&&") {}

  Term run() {
    Term left = output_of(body_, expression(body_, *binary_.left));
    const Type type = body_.type(left);
    bool fine = type.is(Kind::error) || type.is(Kind::boolean) || type.is_tensor();
    if (!fine) refuse(left);
    if (type.is_tensor() && !body_.in_graph()) refuse_tensor(left), fine = false;
    body_.open_block();
    Term right = output_of(body_, expression(body_, *binary_.right));
    Block block = body_.close_block();
    block.result = right.id;
    if (fine && type.is(Kind::boolean) && body_.type(right).is(Kind::boolean)) return of_bools(left, right, block);
    const bool late = fine && body_.in_graph() && is_one_bool(left) && is_one_bool(right) && !is_total(block);
    if (late) return of_tensors(left, right, std::move(block));
    body_.splice(block);
    return fine ? as_op(left, right) : body_.error(span_);
  }

 private:
  Term of_bools(const Term& left, const Term& right, Block& block) {
    if (body_[left.id].form == Form::constant) {
      bool decided = body_[left.id].value.boolean() != both_;  // false && ..., true || ...
      if (decided) return {left.id, span_};
      body_.splice(block);
      return {right.id, span_};
    }
    Term made = body_.make(both_ ? Form::both : Form::either, Kind::boolean, span_, {left});
    body_[made.id].blocks.push_back(std::move(block));
    return made;
  }

  bool is_one_bool(const Term& side) {
    const Type type = body_.type(side);
    if (!type.is_tensor()) return type.is(Kind::boolean);
    return type.precision == Precision::boolean && same(type.elements(), Dim(1)) == Same::yes;
  }
  bool is_total(const Block& block) const {
    return std::ranges::all_of(block.calls, [&](CallId id) { return checking::is_total(body_[id]); });
  }

  // What waits for the left side is a branch: var v = left; if v { v = right }.
  Term of_tensors(const Term& left, const Term& right, Block block) {
    const std::size_t rank = std::max(body_.type(left).rank(), body_.type(right).rank());
    const Type type = Type::tensor(Precision::boolean, std::vector<Dim>(rank, Dim(1)));
    const VariableId variable = body_.add_variable(both_ ? "both" : "either", type, true, span_);
    body_.write_variable(variable, shaped(left, type), span_);
    body_.open_block();
    body_.splice(block);
    body_.write_variable(variable, shaped(right, type), span_);
    block = body_.close_block();
    Term branch = body_.make(Form::if_, Kind::none, span_, {left});
    body_[branch.id].blocks.resize(2);
    body_[branch.id].blocks[both_ ? 0 : 1] = std::move(block);
    return body_.read_variable(variable, span_);
  }

  Term shaped(const Term& side, const Type& type) {
    if (body_.type(side) == type) return side;
    if (!body_.type(side).is_tensor())
      return served_call(body_, Serves::fills, {type_operand(body_, type, span_), side}, span_);
    std::vector<Term> operands{side};
    for (std::size_t i = 0; i < type.rank(); ++i)
      operands.push_back(body_.constant(Value(std::int64_t{1}), Kind::integer, span_));
    return served_call(body_, Serves::reshapes, operands, span_);
  }

  Term as_op(const Term& left, const Term& right) {
    const Type type = body_.type(right);
    bool tensor = type.is_tensor() || body_.type(left).is_tensor();
    if (body_.is_error(left) || type.is(Kind::error)) return body_.error(span_);
    if (!type.is_tensor() && !type.is(Kind::boolean)) return refuse(right);
    if (tensor && !body_.in_graph()) return refuse_tensor(right);
    const TypeRule rule = both_ ? TypeRule([](RuleContext& c) { return bitwise(c, "&&"); })
                                : TypeRule([](RuleContext& c) { return bitwise(c, "||"); });
    return operator_call(body_, both_ ? "&" : "|", {left, right}, span_, binary_.op.span, rule);
  }

  Term refuse(const Term& side) {
    wrong_type(body_.world.diags, side.span,
               fmt::format("'{}' takes bools, this is {}", binary_.op.text, body_.type(side).text()));
    return body_.error(span_);
  }

  Term refuse_tensor(const Term& side) {
    const Term part = graph_part(body_, side);
    graph_value(body_.world.diags, part.span, body_.text(part.span), body_.type(part))
        .help(fmt::format("of tensors element by element it is {}: (a == 1) {} (b == 2)", both_ ? "'&'" : "'|'",
                          both_ ? "&" : "|"));
    return body_.error(span_);
  }

  Body& body_;
  const ast::Binary& binary_;
  Span span_;
  bool both_;
};

// ---- as ----

// The length of a list literal along an axis, where it is known.
std::optional<std::int64_t> length_along(std::optional<Value> value, std::size_t axis) {
  for (; value && value->is_list() && axis > 0; --axis)
    value = value->list().empty() ? std::nullopt : std::optional(value->list()[0]);
  if (!value || !value->is_list()) return std::nullopt;
  return static_cast<std::int64_t>(value->list().size());
}

// [], [[], []], ...
bool is_list_of_nothing(const ast::Expr& expr) {
  auto* list = std::get_if<ast::ListExpr>(&expr.node);
  return list && std::all_of(list->parts.begin(), list->parts.end(), is_list_of_nothing);
}

bool has_blank(Body& body, const Type& type) {
  return std::any_of(type.dims.begin(), type.dims.end(), [&](const Dim& dim) { return is_any(body.world, dim); });
}

// Each `_` takes what the value has.
Type without_blanks(Body& body, Type type, const Term& value) {
  if (!type.is_tensor()) return type;
  bool tensor = body.type(value).is_tensor() && body.type(value).rank() == type.rank();
  for (std::size_t axis = 0; axis < type.rank(); ++axis) {
    if (!is_any(body.world, type.dims[axis])) continue;
    std::optional<std::int64_t> length = tensor ? std::nullopt : length_along(body.known(value.id), axis);
    if (tensor) {
      type.dims[axis] = extent_of(body, extent_operand(body, value, axis).id, "_");
    } else {
      type.dims[axis] = length ? Dim(*length) : unknown_extent(body, "_");
    }
  }
  return type;
}

}  // namespace

Term binary_expression(Body& body, const ast::Binary& binary, Span span) {
  const std::string& sign = binary.op.text;
  if (sign == "&&" || sign == "||") return Logic(body, binary, span).run();
  if (sign == ">>") return compose_expression(body, binary, span);
  Term left = output_of(body, expression(body, *binary.left));
  Type left_type = body.type(left);
  Term right = output_of(body, expression(body, *binary.right, left_type.is(Kind::list) ? &left_type : nullptr));
  if (std::optional<Term> made = partition_operator(body, binary.op, left, right, span)) return *made;
  if (sign == "+") join_extents(body, left, right);
  return operator_call(body, sign, {left, right}, span, binary.op.span);
}

Term unary_expression(Body& body, const ast::Unary& unary, Span span) {
  Term operand = output_of(body, expression(body, *unary.operand));
  return operator_call(body, unary.op.text, {operand}, span, unary.op.span);
}

Term cast_expression(Body& body, const ast::Cast& cast, Span span) {
  Type type = written_type(body, *cast.type, Blank::pattern);
  // An empty list has the type of what it is to become; no other list has: [1, 2] is one of ints.
  Type items = Kind::real;
  for (std::size_t axis = 0; type.is_tensor() && axis < type.rank(); ++axis) items = Type::list(std::move(items));
  const bool open = items.is(Kind::list) && is_list_of_nothing(*cast.value);
  Term value = output_of(body, expression(body, *cast.value, open ? &items : nullptr));
  if (type.is(Kind::error) || body.is_error(value)) return body.error(span);
  // `bool` names a type of the host and a precision: of a tensor it is the precision, as i32 is.
  if (type.is(Kind::boolean) && body.type(value).is_tensor()) type = Type::tensor(Precision::boolean, {});
  const Type given = body.type(value);
  if (has_blank(body, type) && (given.is_number() || given.is(Kind::boolean))) {
    wrong_type(body.world.diags, cast.type->span,
               fmt::format("'_' takes an extent of the value, and {} has none", with_article(given.text())))
        .help(fmt::format("write the extent, or {} for rank 0", info(type.precision).name));
    return body.error(span);
  }
  type = without_blanks(body, std::move(type), value);
  return operator_call(body, "as", {value, type_operand(body, type, cast.type->span)}, span, {});
}

}  // namespace taskspec::checking
