// A block taken apart: parts that make a piece of its outputs each, or, along r, summands of all of them.
//
//   std::vector<BlockPart> halves = split(conv, BlockAxis::y, {14, 14});     // halves[1].in[0]: the rows that it reads
//
// Parts along r are added by a CADD; the first has the bias. Where no sum overflows, the result is the same to the bit.
#pragma once
#include <string>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

struct BlockPart {
  TaskBlock block;
  std::vector<Box> in;  // by cluster: what the part reads of it
  Box out;              // what it makes
};

struct BlockRewrites {
  std::span<const BlockAxis> axes;  // along which it may be cut
  // A reason why this one may not; empty: it may.
  std::string (*refuses)(const TaskBlock& block, BlockAxis axis) = nullptr;
  // What else changes in a part, as a constant that differs from channel to channel.
  void (*adjust)(TaskBlock& part, BlockAxis axis, std::int64_t begin) = nullptr;
};

// Parts of the given sizes, which add up to the extent. Error E4002: it cannot be cut there.
Result<std::vector<BlockPart>> split(const TaskBlock& block, BlockAxis axis, const Extents& sizes);

}  // namespace taskspec
