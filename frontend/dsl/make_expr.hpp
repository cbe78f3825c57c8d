// Recorded values of one function as expressions of the language. A value with a statement of its own is its name
// there, any other stands where it is used.
#pragma once
#include <unordered_map>

#include "frontend/ast.hpp"
#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/node.hpp"

namespace taskspec::dsl::detail {

// Names of functions and agents by their owners, where they are not their own.
using DeclaredNames = std::unordered_map<Owner, std::string>;

class ExprMaker {
 public:
  ExprMaker(Places& places, const DeclaredNames& names) : places_(places), names_(names) {}

  ast::ExprPtr operator()(const Node& node);  // as an operand
  // Names that follow are used here; each says the place of its use, not that of its value.
  void use_at(At at) { use_ = at; }
  ast::ExprPtr content(const Node& node);  // what its statement says
  ast::TypeExpr type(const Type& type, At at);
  std::string name_of(const Node& node);
  ast::Pattern pattern(const std::vector<NodePtr>& points, At at);
  Span span(At at) { return places_.line(at); }

 private:
  ast::Expr build(const Node& node);
  ast::Expr number_without_digits(double value, Span at);
  ast::Expr name(std::string text, Span span);
  ast::Expr call(const Node& node, ast::Expr callee, std::size_t first);
  ast::Expr method(const Node& node, Span span);
  ast::Expr callable(const Node& node, Span span);
  ast::Expr run(const Node& node, Span span);
  ast::Expr index(const Node& node, Span span);
  std::vector<ast::Expr> parts(const Node& node);
  ast::Expr extent(const std::string& text, At at);
  ast::ExprPtr boxed(ast::Expr expr) { return std::make_unique<ast::Expr>(std::move(expr)); }

  std::string declared(Owner owner, const std::string& name) const;

  Places& places_;
  const DeclaredNames& names_;
  At use_;
  std::unordered_map<const Node*, std::size_t> numbers_;  // of values without a name
};

}  // namespace taskspec::dsl::detail
