// The syntax tree as text: `graph --stage ast`, golden tests, and the formatter's proof that it changed nothing.
// One line per declaration and statement, expressions fully bracketed with the operator first:
//
//   y = 2.0 * x.sum(0)      ->   4:3 = y (* 2.0 (call (. x sum) 0))
#pragma once
#include <string>

#include "frontend/ast.hpp"

namespace taskspec {

// With `sources`, each line begins with its place (line:column); without, two texts that differ only in layout
// print the same.
std::string print_ast(const Ast& ast, const Sources* sources = nullptr);
std::string print_expr(const ast::Expr& expr);

}  // namespace taskspec
