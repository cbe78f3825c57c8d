#include "frontend/check/literal_value.hpp"

#include "frontend/check/names.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

Value literal_value(const ast::Expr& expression) {
  if (auto* i = std::get_if<ast::IntLit>(&expression.node)) return Value(i->value);
  if (auto* f = std::get_if<ast::FloatLit>(&expression.node)) return Value(f->value);
  if (auto* b = std::get_if<ast::BoolLit>(&expression.node)) return Value(b->value);
  if (auto* s = std::get_if<ast::StringLit>(&expression.node)) return Value(s->value);
  if (auto* name = std::get_if<ast::NameExpr>(&expression.node))
    if (std::optional<double> constant = checking::constant_of_library(name->name.text)) return Value(*constant);
  if (auto* unary = std::get_if<ast::Unary>(&expression.node); unary && unary->op.text == "-") {
    Value inner = literal_value(*unary->operand);
    if (inner.is_integer()) return Value(-inner.integer());
    if (inner.is_real()) return Value(-inner.real());
  }
  if (auto* list = std::get_if<ast::ListExpr>(&expression.node)) {
    List items;
    for (const ast::Expr& part : list->parts) items.push_back(literal_value(part));
    return Value(std::move(items));
  }
  throw failure("E1004", expression.span,
                "a graph input is a literal: a number, a bool, a string or nested lists of them");
}

}  // namespace taskspec
