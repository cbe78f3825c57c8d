#include "interp/shards/analysis/elision.hpp"

#include "ir/region/piece_form.hpp"

namespace taskspec {

namespace {

// The largest partition whose pieces hold those of this one, colour by colour, and are disjoint; none: its own are not.
PartitionId disjoint_around(const RegionForest& forest, PartitionId partition) {
  PartitionId found;
  while (partition.valid() && forest.disjoint(partition)) {
    found = partition;
    partition = forest[partition].form->within();
  }
  return found;
}

std::int64_t factor(const Projection& of, std::size_t row, std::size_t axis) {
  return of.kind == Projection::Kind::identity ? row == axis : of.factors[row][axis];
}

// Points of equal number take pieces of one colour: the first ones do, and from there on both go the same way.
bool take_alike(const UseKey& a, const UseKey& b) {
  const Projection &f = a.use.projection, &g = b.use.projection;
  if (f.kind == Projection::Kind::function || g.kind == Projection::Kind::function) return false;
  if (a.domain.empty() || a.domain.rank != b.domain.rank || f.out != g.out) return false;
  for (std::size_t axis = 0; axis < a.domain.rank; ++axis) {
    if (a.domain.extent(axis) != b.domain.extent(axis)) return false;
    for (std::size_t row = 0; row < f.out && a.domain.extent(axis) > 1; ++row)
      if (factor(f, row, axis) != factor(g, row, axis)) return false;
  }
  return f(a.domain.point(0)) == g(b.domain.point(0));
}

}  // namespace

bool elides_more(const RegionForest& forest, const UseKey& earlier, const UseKey& later) {
  if (!earlier.use.partition.valid() || !later.use.partition.valid()) return false;
  if (!(earlier.sharding == later.sharding) || !take_alike(earlier, later)) return false;
  if (!later.use.projection.injective(later.domain)) return false;
  const PartitionId around = disjoint_around(forest, later.use.partition);
  return around.valid() && around == disjoint_around(forest, earlier.use.partition);
}

}  // namespace taskspec
