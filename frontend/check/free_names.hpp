// Walks over syntax that is not checked yet: the names in an item that nothing inside of it binds.
//
//   fn f(x: int) -> int { let a = x + n; return a }      // n
#pragma once
#include "frontend/ast.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec::checking {

// Visits them in order, each as often as it stands there. What a statement itself defines is not among them.
void each_free_name(const ast::Item& item, FunctionRef<void(const ast::Name&)> visit);

}  // namespace taskspec::checking
