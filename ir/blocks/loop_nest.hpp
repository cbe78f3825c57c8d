// A compute block as what it is: a perfect nest of loops around one statement whose indices are affine in the loops,
// the results of the inner loops being reduced. The fixed kinds of blocks are instances; the way back finds them.
//
//   for y, x, f: for r, ky, kx:  out[y, x, f] += in[y * 2 + ky - 1, x * 2 + kx - 1, r] * weight[f, r, ky, kx]
//
//   LoopNest nest = block.def->nest(block);        matching_blocks(nest, blocks)[0] is the same CC again
//   run_nest(nest, {image, weights, bias})         plain loops, saturated to 32 bits after every step
//
// Blocks that look up what they read (CLUT), or keep a state (CLIF), are no such nests.
#pragma once
#include <optional>
#include <vector>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

// An index of an array: offset + sum of factors[k] * (loop k).
struct AffineIndex {
  std::int64_t offset = 0;
  std::vector<std::int64_t> factors;
  friend bool operator==(const AffineIndex&, const AffineIndex&) = default;
};

// InAccess, OutAccess: an index per axis of an array. What lies outside of the array is 0.
struct NestAccess {
  std::size_t array = 0;  // an input cluster of the block; of the output it does not matter
  Extents extents;        // of the array
  std::vector<AffineIndex> indices;
  friend bool operator==(const NestAccess&, const NestAccess&) = default;
};

enum class NestReduce : std::uint8_t { sum, most, least };

struct LoopNest {
  std::vector<std::int64_t> loops;  // how often each runs, the outermost first
  std::size_t outer = 0;            // that many are of outputs; the others are reduced
  NestAccess out;
  // Summands of the statement, one after the other, each a product of what it reads and a constant.
  struct Term {
    std::int64_t factor = 1;
    std::vector<NestAccess> reads;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  NestReduce reduce = NestReduce::sum;
  std::optional<NestAccess> bias;  // where sums begin
  std::int64_t start = 0;          // else; of `most` and `least` the constant that is compared at last
  Precision precision = Precision::i32;
  friend bool operator==(const LoopNest&, const LoopNest&) = default;
};

// Arrays by cluster, as NestAccess::array counts. In order of out's elements.
std::vector<std::int64_t> run_nest(const LoopNest& nest, const std::vector<Array>& arrays);

// The same nest with loops in another order, outer and reduced ones among themselves: order[k] is the old place of loop
// k. The order of reduced loops is part of what a nest computes where sums saturate.
LoopNest with_loops(const LoopNest& nest, const std::vector<std::size_t>& order);

// All blocks that compute it, by number of their kinds; none: no primitive does. Outer loops may come in any order, and
// so may the factors of a product.
std::vector<TaskBlock> matching_blocks(const LoopNest& nest, const BlockTable& blocks);

}  // namespace taskspec
