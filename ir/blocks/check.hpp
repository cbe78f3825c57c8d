// Is a block graph well formed? Extents, attributes and data of each block; what feeds what, sizes and rearrangements
// of each edge; whether boxes tile clusters exactly; no cycle without a delay. All faults at once, by the names of
// blocks.
//
//   Diags diags = check_blocks(graph, blocks, BlockMode::chip);
//   error E4003: two edges fill [3..4, 0..28, 0..6] of conv.input
//
// In real mode precisions do not matter. In rabbit mode, in which files of others are run, two things are accepted that
// a chip cannot do: an odd shift, and storage of a precision that is narrower than what a block makes.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/blocks/block_graph.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

Diags check_blocks(const BlockGraph& graph, const BlockTable& blocks, BlockMode mode = BlockMode::chip);

// The parts of it (check.cpp: one block by itself; check_edges.cpp: how they hang together; cover.cpp: tiles).
void check_block(const TaskBlock& block, BlockMode mode, Diags& diags);
void check_edges(const BlockGraph& graph, const BlockTable& blocks, BlockMode mode, Diags& diags);

// Boxes of one cluster: does each place lie in exactly one of them?
struct Cover {
  std::optional<std::pair<std::size_t, std::size_t>> overlap;  // two that share places, by their positions
  Box shared;                                                  // what these share
  bool has_gap = false;
  std::optional<Extents> gap;  // the first place that none of them holds; none: there are too many boxes to tell
  std::int64_t covered = 0;    // places
};
Cover cover(const Extents& extents, std::span<const Box> boxes);

}  // namespace taskspec
