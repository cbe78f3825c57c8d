// The lines of an `ir` declaration, read into a block graph.
//
//   img  : SI i8 [y: 28, x: 28, f: 1]      ->      TaskBlock
//   img -> pad | reflect(axis: "x")        ->      BlockEdge
#pragma once
#include <memory>
#include <optional>

#include "frontend/check/body.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec::checking {

// Nothing where a line is wrong, which has been reported. `file` is the body in which the declaration stands: extents
// and attributes may name ints of it. Blocks with `=` have contents that come with each run (ir/blocks/value.hpp).
std::shared_ptr<const BlockGraph> read_block_lines(Body& file, const ast::IrDecl& declaration);

}  // namespace taskspec::checking
