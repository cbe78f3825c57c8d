#include "frontend/dsl/make_expr.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/parse.hpp"

namespace taskspec::dsl::detail {

// No name of a text can begin so.
std::string ExprMaker::name_of(const Node& node) {
  if (node.entered) return node.entered->name;
  if (node.kind == Node::Kind::region && !node.text.empty()) return node.text;
  if (!node.bound && !node.text.empty()) return node.text;
  std::size_t number = numbers_.emplace(&node, numbers_.size() + 1).first->second;
  return "%" + std::to_string(number);
}

ast::ExprPtr ExprMaker::operator()(const Node& node) {
  const bool is_name = node.bound || node.kind == Node::Kind::name;
  return boxed(is_name ? name(name_of(node), span(use_.line() != 0 ? use_ : node.at)) : build(node));
}

ast::ExprPtr ExprMaker::content(const Node& node) { return boxed(build(node)); }

ast::Expr ExprMaker::name(std::string text, Span span) { return {span, ast::NameExpr{{std::move(text), span}}}; }

std::vector<ast::Expr> ExprMaker::parts(const Node& node) {
  std::vector<ast::Expr> made;
  for (const NodePtr& part : node.in) made.push_back(std::move(*(*this)(*part)));
  return made;
}

ast::Expr ExprMaker::number_without_digits(double value, Span at) {
  ast::Expr made = name(std::isnan(value) ? "nan" : "inf", at);
  return value < 0 ? ast::Expr{at, ast::Unary{{"-", at}, boxed(std::move(made))}} : std::move(made);
}

ast::Expr ExprMaker::build(const Node& node) {
  using Kind = Node::Kind;
  struct Back {
    At& use;
    At before;
    ~Back() { use = before; }
  } back{use_, use_};
  if (node.at.line() != 0) use_ = node.at;
  Span at = span(node.at);
  switch (node.kind) {
    case Kind::integer:
      if (node.integer < 0 && node.integer != INT64_MIN)
        return {at, ast::Unary{{"-", at}, boxed({at, ast::IntLit{-node.integer}})}};
      return {at, ast::IntLit{node.integer}};
    case Kind::real:
      if (!std::isfinite(node.real)) return number_without_digits(node.real, at);
      if (node.real < 0) return {at, ast::Unary{{"-", at}, boxed({at, ast::FloatLit{-node.real}})}};
      return {at, ast::FloatLit{node.real}};
    case Kind::boolean:
      return {at, ast::BoolLit{node.integer != 0}};
    case Kind::string:
      return {at, ast::StringLit{node.text}};
    case Kind::type: {
      std::vector<ast::Expr> extents;
      for (const Dim& dim : node.type.dims) extents.push_back(extent(dim.text(), node.at));
      ast::Expr precision = name(node.type.name, at);
      if (extents.empty()) return precision;
      std::vector<ast::IndexItem> items;
      for (ast::Expr& e : extents) items.push_back({at, false, boxed(std::move(e)), nullptr, nullptr});
      return {at, ast::Index{boxed(std::move(precision)), std::move(items), at}};
    }
    case Kind::name:
      return name(node.text.empty() ? name_of(node) : node.text, at);
    case Kind::list:
      return {at, ast::ListExpr{parts(node)}};
    case Kind::tuple:
      return {at, ast::TupleExpr{parts(node)}};
    case Kind::callable:
      return callable(node, at);
    case Kind::unary:
      return {at, ast::Unary{{node.text, at}, (*this)(*node.in[0])}};
    case Kind::binary: {
      ast::ExprPtr left = (*this)(*node.in[0]), right = (*this)(*node.in[1]);
      return {at, ast::Binary{{node.text, at}, std::move(left), std::move(right)}};
    }
    case Kind::method:
      return method(node, at);
    case Kind::library:
      return call(node, name(node.text, at), 0);
    case Kind::member:
      return {at, ast::Member{(*this)(*node.in[0]), {node.text, at}}};
    case Kind::index:
      return index(node, at);
    case Kind::cast:
      return {at, ast::Cast{(*this)(*node.in[0]), std::make_unique<ast::TypeExpr>(type(node.type, node.at))}};
    case Kind::given:
      return {at, ast::Given{*node.data}};
    case Kind::run:
      return run(node, at);
    case Kind::agent:
      return call(node, name(declared(node.agent->owner, node.agent->name.text), at), 0);
    case Kind::invoke: {
      ast::Expr callee = std::move(*(*this)(*node.in[0]));
      return call(node, std::move(callee), 1);
    }
    case Kind::range: {
      ast::ExprPtr low = (*this)(*node.in[0]), high = (*this)(*node.in[1]);
      return {at, ast::RangeExpr{std::move(low), std::move(high), at}};
    }
    case Kind::region: {
      ast::NamedType type{{declared(node.type.table->owner, node.type.name), at}, parts(node), {}};
      return {at, ast::RegionExpr{std::make_unique<ast::TypeExpr>(ast::TypeExpr{at, std::move(type)})}};
    }
    case Kind::lambda:
      return {at, ast::Lambda{pattern(node.points, node.at), (*this)(*node.in[0]), at}};
    case Kind::launch: {
      ast::Launch made{(*this)(*node.in[0]), pattern(node.points, node.at), (*this)(*node.in[1]), nullptr};
      if (node.in.size() > 2) made.sharding = (*this)(*node.in[2]);
      return {at, std::move(made)};
    }
  }
  bug("a recorded value without a form in the language");
}

ast::Pattern ExprMaker::pattern(const std::vector<NodePtr>& points, At at) {
  ast::Pattern made{span(at), {}};
  for (const NodePtr& point : points) made.names.push_back({name_of(*point), made.span});
  return made;
}

ast::Expr ExprMaker::call(const Node& node, ast::Expr callee, std::size_t first) {
  Span at = span(node.at);
  ast::Call made{boxed(std::move(callee)), {}, at};
  for (std::size_t i = first; i < node.in.size(); ++i) {
    ast::ExprPtr value = (*this)(*node.in[i]);
    Span place = value->span.valid() ? value->span : at;
    ast::Arg arg{place, {}, std::move(value)};
    if (i < node.names.size() && !node.names[i].empty()) arg.name = ast::Name{node.names[i], at};
    made.args.push_back(std::move(arg));
  }
  return {at, std::move(made)};
}

// `x.mean(0)`: as a method, so that an output that is called `mean` does not hide it.
ast::Expr ExprMaker::method(const Node& node, Span at) {
  const Node& receiver = *node.in[0];
  ast::ExprPtr base = (*this)(receiver);
  const Function* called = receiver.kind == Node::Kind::invoke ? receiver.in[0]->function.get() : nullptr;
  if (called && called->outputs.size() == 1 && called->outputs[0].name.text == node.text)
    base = boxed({at, ast::Member{std::move(base), {node.text, at}}});
  return call(node, {at, ast::Member{std::move(base), {node.text, at}}}, 1);
}

ast::Expr ExprMaker::callable(const Node& node, Span at) {
  if (node.in.empty()) return name(declared(node.function->owner, node.function->name.text), at);
  return {at, ast::Member{(*this)(*node.in[0]), {node.text, at}}};
}

ast::Expr ExprMaker::run(const Node& node, Span at) {
  // host(threads: 2, schedule: "pull", time_steps: 16)
  ast::Call backend{boxed(name(node.text, at)), {}, at};
  if (node.integer != 0) backend.args.push_back({at, ast::Name{"threads", at}, boxed({at, ast::IntLit{node.integer}})});
  if (!node.names[0].empty())
    backend.args.push_back({at, ast::Name{"schedule", at}, boxed({at, ast::StringLit{node.names[0]}})});
  if (node.real > 0)
    backend.args.push_back(
        {at, ast::Name{"time_steps", at}, boxed({at, ast::IntLit{static_cast<std::int64_t>(node.real)}})});
  for (std::size_t i = 1; i < node.in.size(); ++i)
    backend.args.push_back({at, ast::Name{node.names[i], at}, (*this)(*node.in[i])});
  return {at, ast::Run{content(*node.in[0]), boxed({at, std::move(backend)})}};
}

std::string ExprMaker::declared(Owner owner, const std::string& name) const {
  auto found = names_.find(owner);
  return found == names_.end() ? name : found->second;
}

ast::Expr ExprMaker::index(const Node& node, Span at) {
  std::vector<ast::IndexItem> items;
  ast::ExprPtr base = (*this)(*node.in[0]);
  for (const Item& item : node.items) {
    ast::IndexItem made{at, item.kind != Index::Kind::position, nullptr, nullptr, nullptr};
    if (!made.is_slice) {
      made.at = (*this)(*item.low);
    } else {
      if (item.low) made.low = (*this)(*item.low);
      if (item.high) made.high = (*this)(*item.high);
    }
    items.push_back(std::move(made));
  }
  return {at, ast::Index{std::move(base), std::move(items), at}};
}

// ---- types ----------------------------------------------------------------------------------------

ast::TypeExpr ExprMaker::type(const Type& type, At at) {
  Span place = span(at);
  if (type.name == "[]") return {place, ast::ListType{std::make_unique<ast::TypeExpr>(this->type(type.parts[0], at))}};
  if (type.name == "()") {
    ast::TupleType tuple;
    for (const Type& part : type.parts) tuple.parts.push_back(this->type(part, at));
    return {place, std::move(tuple)};
  }
  ast::NamedType made{{type.table ? declared(type.table->owner, type.name) : type.name, place}, {}, {}};
  for (const Dim& dim : type.dims) made.dims.push_back(extent(dim.text(), at));
  for (const std::string& field : type.fields) made.fields.push_back({field, place});
  return {place, std::move(made)};
}

ast::Expr ExprMaker::extent(const std::string& text, At at) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0) return {span(at), ast::IntLit{number}};
  auto is_letter = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_letter)) return name(text, span(at));
  taskspec::Result<ast::Expr> parsed = parse_expression(places_.sources(), places_.sources().add("<extent>", text));
  if (!parsed) fail("E1004", at, "'" + text + "' is no extent", "a number, a name such as \"N\", or \"2*N + 1\"");
  return std::move(*parsed);
}

}  // namespace taskspec::dsl::detail
