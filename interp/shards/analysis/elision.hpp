// What can be proved needless beyond the rule of the coarse stage (`--elide more`): that a dependence between two
// launches stays on each shard, though their keys differ. Points of equal number are on one shard; so they may be
// launches over other ranges, and over other partitions, where points of equal number alone can meet.
//
//   launch a(owned[i]) for i in 0..4;  launch b(interior[i + 1]) for i in -1..3      // interior = owned & something
//   AnalysisEngine engine(forest, collectives, executor, {.more = elides_more});
#pragma once
#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

// Both sides take, point by point in their order, pieces of one colour each, all of them inside of one partition that
// is disjoint. That is the same for any two launches of a set or for none of it: what stands behind one of them need
// not look at those that this one replaced.
bool elides_more(const RegionForest& forest, const UseKey& earlier, const UseKey& later);

}  // namespace taskspec
