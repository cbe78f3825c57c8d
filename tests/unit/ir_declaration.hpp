// The smallest reader of `ir` declarations: to show that their text says all of a block graph. It takes what
// blocks_text writes and nothing else, and does not look for mistakes.
#pragma once
#include <span>

#include "frontend/ast.hpp"
#include "ir/blocks/block_graph.hpp"
#include "ir/files/files.hpp"

namespace taskspec::tests {

BlockGraph block_graph_of(const ast::IrDecl& declaration, std::span<const NamedArray> arrays);

}  // namespace taskspec::tests
