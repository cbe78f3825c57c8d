// A compute block written as what it is, a nest of loops with affine accesses, becomes the primitive that computes it.
//
//   c : NEST i32 [y: 4, x: 4, f: 3, r: 2, ky: 3, kx: 3, iy: 8, ix: 8]
//              (sum: input[2 * y + ky - 1, 2 * x + kx - 1, r] * weight[f, r, ky, kx])        ->   a CC with strides and
//              pads
//
// Loops are the extents, those of outputs (y, x, f) outside; the others in the order in which they are written, which
// is that of the additions. What is read goes by the names of the primitive's clusters; what lies outside of it is 0.
#pragma once
#include "frontend/check/body.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/blocks/loop_nest.hpp"

namespace taskspec::checking {

struct NestLine {
  std::vector<std::pair<BlockAxis, std::int64_t>> loops;  // as written, iy and ix among them
  NestReduce reduce = NestReduce::sum;
  const ast::Expr* statement = nullptr;
  std::optional<std::int64_t> start;  // of `most` and `least`
  Precision precision = Precision::i32;
};

struct NestProblem {
  Span span;
  std::string text, help;
};

// All blocks that compute it, by number of their kinds. Throws NestProblem for a statement that is none. `number`: a
// host int that is written; nothing where that was reported.
std::vector<TaskBlock> blocks_of_nest(const NestLine& line, const BlockTable& table,
                                      FunctionRef<std::optional<std::int64_t>(const ast::Expr&)> number);

}  // namespace taskspec::checking
