// Recordings -> the syntax tree of a text that says the same: what a graph needs, each declaration once, in the order
// in which a text would have them.
//
//   Places places(sources);
//   Ast ast = make_ast({graph}, places);
#pragma once
#include "frontend/ast.hpp"
#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/node.hpp"

namespace taskspec::dsl::detail {

// What these functions and values need, and they themselves. Throws dsl::Error: two declarations of one name.
Ast make_ast(const std::vector<std::shared_ptr<Function>>& wanted, Places& places);

}  // namespace taskspec::dsl::detail
