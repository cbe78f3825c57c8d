// Reductions of a launch's map whose bits do not depend on how many shards there are, nor on who owns which point: the
// value of one fixed binary tree over the points of the domain in order (interp/host/fold.hpp has the same one). A
// shard folds every subtree that it owns whole; all are told these and finish the same tree.
//
//   reduce_map(collectives, {Purpose::value, 12}, {Precision::f64, ReduceOp::sum, points, elements}, own_runs, rows,
//              [](Bytes value) { ... });
#pragma once
#include <bit>
#include <span>

#include "interp/shards/collectives/collectives.hpp"
#include "ir/records/reduce_op.hpp"
#include "ir/region/intervals.hpp"

namespace taskspec {

struct MapShape {
  Precision precision = Precision::f64;
  ReduceOp op = ReduceOp::sum;
  std::int64_t points = 0;   // of the whole domain
  std::size_t elements = 1;  // of the tensor that each point gives
};

// Above so many bytes of a point's value each shard folds its own slice of the elements, for all.
inline constexpr std::size_t largest_gathered_value = std::size_t{64} << 10;

// `own` are numbers of points, ascending; `rows` are their values, one behind the other. `got` is told the value, in
// the precision of reduced_precision.
void reduce_map(Collectives& collectives, CollectiveKey key, const MapShape& shape, std::span<const Run> own,
                ByteView rows, Collectives::Got got, const CallStamp& stamp = {});

// Of a tree, or a subtree, of so many.
inline std::int64_t left_leaves(std::int64_t leaves) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(leaves)) / 2);
}

// The subtrees that are owned whole, greatest first along each branch: runs of points, ascending.
std::vector<Run> whole_subtrees(std::int64_t points, std::span<const Run> own);

// All values, in the order of the points.
void gather_map(Collectives& collectives, CollectiveKey key, const MapShape& shape, std::span<const Run> own,
                ByteView rows, Collectives::Got got, const CallStamp& stamp = {});

}  // namespace taskspec
