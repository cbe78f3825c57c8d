// Approximate groups: blocks that may be changed as long as what leaves their group stays near to what it was.
//
//   group 1, approx 0.02, metric "l2"
//   Result<Approximated> made = approximate(graph, blocks, samples);      made->graph, made->text()
//
// Rewrites are tried one by one (approximate_rewrites.cpp): tables with fewer entries; weights that fit two bits, with
// the cut behind them changed by as much; values of two bits. Each is run on the exact engine, on the given samples,
// and its error measured against the graph as it was, not against the one with the rewrites taken so far; beyond the
// group's limit it is undone. So the errors are those of the samples, not bounds.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

// A sample: the inputs of the graph, step after step; the engine begins anew with each sample.
using BlockSample = std::vector<std::vector<Array>>;

struct ApproximateTrial {
  std::int32_t group = 0;
  std::string rewrite;     // "table of 'look': 16 -> 12 bits"
  double error = 0;        // in the group's metric
  std::int64_t bytes = 0;  // of storage that it saves
  bool is_taken = false;
};

struct Approximated {
  BlockGraph graph;
  std::vector<ApproximateTrial> trials;  // in the order in which they were tried
  std::string text() const;              // a line each
};

// Metrics: "max" (the largest difference, of the largest value; also the empty one), "mean" (the mean difference, of
// the mean size), "l2" (the root of the sum of squares, of that of the values). E4036: a group that cannot be measured.
Result<Approximated> approximate(const BlockGraph& graph, const BlockTable& blocks,
                                 const std::vector<BlockSample>& samples);

// What a group allows: each gives the graph with one more change at a block, or nothing where it does not apply.
struct ApproximateRewrite {
  std::string_view name;
  std::optional<BlockGraph> (*apply)(const BlockGraph& graph, BlockId block, std::string& what);
};
std::span<const ApproximateRewrite> approximate_rewrites();

}  // namespace taskspec
