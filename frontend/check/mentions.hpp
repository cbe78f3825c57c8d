// Walks over syntax that is not checked yet: which names an expression mentions, and inside which calls.
#pragma once
#include <vector>

#include "frontend/ast.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec::checking {

// Visits every plain name in `expr` with the expressions around it, outermost first, itself last.
using Mention = FunctionRef<void(const ast::Name&, const std::vector<const ast::Expr*>& around)>;
void each_mention(const ast::Expr& expr, const Mention& visit);

// The values of a statement, without those of nested blocks, in the order in which they are evaluated.
std::vector<const ast::Expr*> values_of(const ast::Stmt& statement);

// Visits all expressions of statements, nested blocks too, those inside of one before itself: the order in
// which calls are numbered.
void each_expression(const std::vector<const ast::Stmt*>& statements, FunctionRef<void(const ast::Expr&)> visit);

}  // namespace taskspec::checking
