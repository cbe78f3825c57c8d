#include "frontend/ast_parts.hpp"

#include "frontend/ast.hpp"

namespace taskspec::ast {

Parts& Parts::operator<<(const Name& name) { return word(name.text), *this; }

template <class Node, class Take>
Parts& Parts::each(const List<Node>& list, Take take) {
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    if (i > 0) word(list.between);
    take(list.nodes[i]);
  }
  return *this;
}

Parts& Parts::operator<<(const List<Expr>& list) {
  return each(list, [&](const Expr& node) { value(node); });
}
Parts& Parts::operator<<(const List<TypeExpr>& list) {
  return each(list, [&](const TypeExpr& node) { type(node); });
}
Parts& Parts::operator<<(const List<Arg>& list) {
  return each(list, [&](const Arg& node) { node.describe(*this); });
}
Parts& Parts::operator<<(const List<IndexItem>& list) {
  return each(list, [&](const IndexItem& node) { node.describe(*this); });
}
Parts& Parts::operator<<(const List<Name>& list) {
  return each(list, [&](const Name& node) { word(node.text); });
}

namespace {

template <class Kinds>
void describe_one(const Kinds& node, Parts& to) {
  std::visit([&](const auto& kind) { kind.describe(to); }, node);
}

}  // namespace

void Expr::describe(Parts& to) const { describe_one(node, to); }
void TypeExpr::describe(Parts& to) const { describe_one(node, to); }
void Stmt::describe(Parts& to) const { describe_one(node, to); }

}  // namespace taskspec::ast
