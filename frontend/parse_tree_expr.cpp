#include <fmt/format.h>

#include <algorithm>

#include "frontend/literal.hpp"
#include "frontend/parse_tree.hpp"

namespace taskspec::parsing {

using ast::Expr;
using ast::ExprPtr;

namespace {

antlr4::tree::TerminalNode* leaf_at(antlr4::ParserRuleContext* tree, std::size_t i) {
  return i < tree->children.size() ? dynamic_cast<antlr4::tree::TerminalNode*>(tree->children[i]) : nullptr;
}

// "compare" for all comparison operators, ".." for itself: those that do not chain with their own kind.
std::string_view unchained_kind(std::string_view op) {
  if (op == "..") return op;
  bool compares = op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
  return compares ? "compare" : "";
}

}  // namespace

// ---- places and words ----

Span TreeBuilder::span(Node* tree) const {
  return {source_, static_cast<std::uint32_t>(tree->start->getStartIndex()),
          static_cast<std::uint32_t>(tree->stop->getStopIndex() + 1)};
}

Span TreeBuilder::span(Leaf* leaf) const {
  antlr4::Token* token = leaf->getSymbol();
  return {source_, static_cast<std::uint32_t>(token->getStartIndex()),
          static_cast<std::uint32_t>(token->getStopIndex() + 1)};
}

std::string_view TreeBuilder::text(Leaf* leaf) const {
  if (!leaf) return {};
  Span place = span(leaf);
  return text_.substr(place.begin, place.end - place.begin);
}

ast::Name TreeBuilder::name(Leaf* leaf) const { return {std::string(text(leaf)), span(leaf)}; }
ast::Name TreeBuilder::string(Leaf* leaf) const { return {string_value(text(leaf)), span(leaf)}; }

std::vector<ast::Name> TreeBuilder::names(const std::vector<Leaf*>& leaves, std::size_t first) const {
  std::vector<ast::Name> result;
  for (std::size_t i = first; i < leaves.size(); ++i) result.push_back(name(leaves[i]));
  return result;
}

// ---- expressions ----

ExprPtr TreeBuilder::boxed(TaskParser::ExprContext* tree) { return std::make_unique<Expr>(expr(tree)); }
ExprPtr TreeBuilder::boxed(TaskParser::OpContext* tree) { return std::make_unique<Expr>(op(tree)); }

Expr TreeBuilder::expr(TaskParser::ExprContext* tree) {
  std::string_view first = text(leaf_at(tree, 0));
  if (first == "region") return {span(tree), ast::RegionExpr{boxed(tree->type())}};
  if (first == "run") return {span(tree), ast::Run{boxed(tree->op(0)), boxed(tree->op(1))}};
  if (first == "launch") {
    ExprPtr sharding = tree->op().size() > 2 ? boxed(tree->op(2)) : nullptr;
    return {span(tree),
            ast::Launch{boxed(tree->op(0)), pattern(tree->pattern()), boxed(tree->op(1)), std::move(sharding)}};
  }
  if (tree->pattern())
    return {span(tree), ast::Lambda{pattern(tree->pattern()), boxed(tree->expr()), span(leaf_at(tree, 1))}};
  return op(tree->op(0));
}

Expr TreeBuilder::op(TaskParser::OpContext* tree) {
  if (tree->children.size() == 1) return postfix(tree->postfix());
  if (tree->children.size() == 2) return {span(tree), ast::Unary{name(leaf_at(tree, 0)), boxed(tree->op(0))}};
  if (tree->type()) return {span(tree), ast::Cast{boxed(tree->op(0)), boxed(tree->type())}};
  return binary(tree);
}

Expr TreeBuilder::binary(TaskParser::OpContext* tree) {
  refuse_chain(tree);
  Leaf* sign = leaf_at(tree, 1);
  ExprPtr left = boxed(tree->op(0));
  ExprPtr right = boxed(tree->op(1));
  if (text(sign) == "..") return {span(tree), ast::RangeExpr{std::move(left), std::move(right), span(sign)}};
  return {span(tree), ast::Binary{name(sign), std::move(left), std::move(right)}};
}

// `a < b < c` groups to the left without brackets, so its left operand is itself a bare comparison.
void TreeBuilder::refuse_chain(TaskParser::OpContext* tree) {
  Leaf* sign = leaf_at(tree, 1);
  std::string_view kind = unchained_kind(text(sign));
  Leaf* inner = leaf_at(tree->op(0), 1);
  if (kind.empty() || !inner || unchained_kind(text(inner)) != kind) return;
  bool range = kind == "..";
  Diag& diag = diags_.error("E1004", span(sign), range ? "ranges do not chain" : "comparisons do not chain");
  diag.label(span(inner), range ? "this is a range already" : "this comparison has a bool as its result");
  if (range) return;
  auto source = [&](TaskParser::OpContext* part) {
    return text_.substr(span(part).begin, span(part).end - span(part).begin);
  };
  std::string_view left = source(tree->op(0)), middle = source(tree->op(0)->op(1)), right = source(tree->op(1));
  if (left.size() + right.size() < 60 && left.find('\n') == std::string_view::npos)
    diag.help(fmt::format("write {} && {} {} {}", left, middle, text(sign), right));
}

Expr TreeBuilder::postfix(TaskParser::PostfixContext* tree) {
  Expr result = primary(tree->primary());
  const auto& parts = tree->children;
  for (std::size_t i = 1; i < parts.size();) {
    Leaf* sign = leaf_at(tree, i);
    Span whole{source_, result.span.begin, 0};
    auto base = std::make_unique<Expr>(std::move(result));
    if (text(sign) == ".") {
      ast::Name member = name(leaf_at(tree, i + 1));
      whole.end = member.span.end;
      result = {whole, ast::Member{std::move(base), std::move(member)}};
      i += 2;
    } else if (text(sign) == "(") {
      auto* list = dynamic_cast<TaskParser::ArgsContext*>(parts[i + 1]);
      Span brackets = join(span(sign), span(leaf_at(tree, i + (list ? 2 : 1))));
      whole.end = brackets.end;
      result = {whole, ast::Call{std::move(base), args(list), brackets}};
      i += list ? 3 : 2;
    } else {
      std::vector<ast::IndexItem> items;
      for (++i; text(leaf_at(tree, i)) != "]"; ++i)
        if (auto* part = dynamic_cast<TaskParser::IndexContext*>(parts[i])) items.push_back(index(part));
      Span brackets = join(span(sign), span(leaf_at(tree, i++)));
      whole.end = brackets.end;
      result = {whole, ast::Index{std::move(base), std::move(items), brackets}};
    }
  }
  return result;
}

Expr TreeBuilder::primary(TaskParser::PrimaryContext* tree) {
  Leaf* first = leaf_at(tree, 0);
  std::string_view sign = text(first);
  if (sign != "(" && sign != "[") return literal(first);
  std::vector<Expr> parts;
  for (TaskParser::ExprContext* part : tree->expr()) parts.push_back(expr(part));
  if (sign == "[") return {span(tree), ast::ListExpr{std::move(parts)}};
  if (parts.size() > 1) return {span(tree), ast::TupleExpr{std::move(parts)}};
  Expr inner = std::move(parts[0]);
  inner.span = span(tree);
  return inner;
}

Expr TreeBuilder::literal(Leaf* leaf) {
  Span place = span(leaf);
  std::string_view spelling = text(leaf);
  switch (leaf->getSymbol()->getType()) {
    case TaskLexer::ID:
      return {place, ast::NameExpr{name(leaf)}};
    case TaskLexer::INT:
      return {place, ast::IntLit{int_value(spelling).value_or(0)}};
    case TaskLexer::FLOAT:
      return {place, ast::FloatLit{float_value(spelling).value_or(0)}};
    case TaskLexer::STRING:
      return {place, ast::StringLit{string_value(spelling)}};
    default:
      return {place, ast::BoolLit{spelling == "true"}};
  }
}

// `op | op '..' | '..' op?`, where a plain `low..high` comes as one op.
ast::IndexItem TreeBuilder::index(TaskParser::IndexContext* tree) {
  ast::IndexItem item;
  item.span = span(tree);
  if (!leaf_at(tree, 0) && tree->children.size() == 1) {
    TaskParser::OpContext* only = tree->op();
    if (text(leaf_at(only, 1)) != "..") {
      item.at = boxed(only);
      return item;
    }
    refuse_chain(only);
    item.low = boxed(only->op(0));
    item.high = boxed(only->op(1));
  } else if (leaf_at(tree, 0)) {
    if (tree->op()) item.high = boxed(tree->op());
  } else {
    item.low = boxed(tree->op());
  }
  item.is_slice = true;
  return item;
}

std::vector<ast::IndexItem> TreeBuilder::indices(const std::vector<TaskParser::IndexContext*>& trees) {
  std::vector<ast::IndexItem> items;
  for (TaskParser::IndexContext* tree : trees) items.push_back(index(tree));
  return items;
}

std::vector<ast::Arg> TreeBuilder::args(TaskParser::ArgsContext* tree) {
  std::vector<ast::Arg> result;
  if (!tree) return result;
  for (TaskParser::ArgContext* part : tree->arg()) {
    ast::Arg arg{span(part), std::nullopt, boxed(part->expr())};
    if (part->ID()) arg.name = name(part->ID());
    result.push_back(std::move(arg));
  }
  return result;
}

ast::Pattern TreeBuilder::pattern(TaskParser::PatternContext* tree) { return {span(tree), names(tree->ID())}; }

// ---- types ----

ast::TypePtr TreeBuilder::boxed(TaskParser::TypeContext* tree) { return std::make_unique<ast::TypeExpr>(type(tree)); }

ast::TypeExpr TreeBuilder::type(TaskParser::TypeContext* tree) {
  std::string_view first = text(leaf_at(tree, 0));
  if (first == "[") return {span(tree), ast::ListType{boxed(tree->type(0))}};
  std::vector<ast::TypeExpr> parts;
  for (TaskParser::TypeContext* part : tree->type()) parts.push_back(type(part));
  if (first == "(") return {span(tree), ast::TupleType{std::move(parts)}};
  if (first == "fn") {
    ast::FnType fn;
    bool has_result = tree->children.size() > 2 && text(leaf_at(tree, tree->children.size() - 2)) == "->";
    if (has_result) {
      fn.result = std::make_unique<ast::TypeExpr>(std::move(parts.back()));
      parts.pop_back();
    }
    fn.params = std::move(parts);
    return {span(tree), std::move(fn)};
  }
  ast::NamedType named{name(tree->ID(0)), {}, names(tree->ID(), 1)};
  for (TaskParser::OpContext* dim : tree->op()) named.dims.push_back(op(dim));
  return {span(tree), std::move(named)};
}

// ---- entry ----

ast::Expr build_expression(TaskParser::ExprContext* tree, SourceId source, std::string_view text, Diags& diags) {
  return TreeBuilder(source, text, diags).expr(tree);
}

}  // namespace taskspec::parsing
