// Random trees of regions and partitions in one to three axes, dense and sparse, by all operators, against plain sets
// of points.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/region/piece_form.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/random_regions.hpp"

namespace taskspec::regions_prop_test {

namespace {

void check_form(const IndexSpace& points, const Rect& root, const PointSet& wanted) {
  CHECK(as_set(points, root) == wanted);
  CHECK(points.size() == static_cast<std::int64_t>(wanted.size()));
  for (std::int64_t i = 0; i < root.size(); ++i) CHECK(points.contains(root, i) == wanted.contains(i));
  std::int64_t behind = -1, in_rects = 0;
  points.runs(root, [&](Run run) {
    CHECK(run.lo > behind);  // ascending and merged
    CHECK(run.lo < run.hi);
    behind = run.hi;
  });
  points.rects(root, [&](const Rect& rect) { in_rects += rect.size(); });
  CHECK(in_rects == points.size());
}

void check_partition(GrownForest& grown, const GrownPartition& node) {
  const RegionForest& forest = grown.forest;
  const Partition& partition = forest[node.id];
  const Rect& root = forest.root(node.id);
  REQUIRE(partition.colours.size() == static_cast<std::int64_t>(node.pieces.size()));
  PointSet all;
  std::size_t total = 0;
  for (std::size_t c = 0; c < node.pieces.size(); ++c) {
    const Point colour = partition.colours.point(static_cast<std::int64_t>(c));
    check_form(forest.points(forest.piece(node.id, colour)), root, node.pieces[c]);
    all = either(all, node.pieces[c]);
    total += node.pieces[c].size();
  }
  CHECK(forest.disjoint(node.id) == (total == all.size()));
  CHECK(forest.complete(node.id) == (all == node.parent));
  const auto shared = forest.shared_point(node.id);
  REQUIRE(shared.has_value() == (total != all.size()));
  if (shared)
    for (const Point& colour : {shared->first, shared->second})
      CHECK(
          node.pieces[static_cast<std::size_t>(partition.colours.linear(colour))].contains(root.linear(shared->point)));
  // Whoever asks which pieces touch some points hears of all that do.
  const auto& [space, points] = grown.spaces[grown.pick(grown.spaces.size())];
  if (space.root != partition.parent.root) return;
  PointSet told;
  partition.form->touching(forest, forest.points(space), [&](const Rect& near) {
    return each_point(near, [&](const Point& colour) { return told.insert(partition.colours.linear(colour)), true; });
  });
  for (std::size_t c = 0; c < node.pieces.size(); ++c)
    if (!both(node.pieces[c], points).empty()) CHECK(told.contains(static_cast<std::int64_t>(c)));
}

}  // namespace

TEST_CASE("[regions] [partitions] random trees and operators are what plain sets of points say") {
  std::size_t made = 0, proved = 0;
  for (const std::uint64_t seed : random_seeds(100, 2'500)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 12; ++i) grown.grow();
    for (const GrownPartition& node : grown.nodes) check_partition(grown, node);
    made += grown.nodes.size();
    for (const auto& [a, points_a] : grown.spaces)
      for (const auto& [b, points_b] : grown.spaces) {
        const bool meets = a.root == b.root && !both(points_a, points_b).empty();
        CHECK(grown.forest.meet(a, b) == meets);
        if (a.root != b.root) continue;
        if (!points_a.empty() && grown.forest.statically_disjoint(a, b)) ++proved;
        if (meets) CHECK_FALSE(grown.forest.statically_disjoint(a, b));
        const Rect& root = grown.forest.root(a);
        const IndexSpace x = grown.forest.points(a), y = grown.forest.points(b);
        CHECK(as_set(unite(root, x, y), root) == either(points_a, points_b));
        CHECK(as_set(subtract(root, x, y), root) == without(points_a, points_b));
        CHECK(equal(root, x, y) == (points_a == points_b));
        CHECK(includes(root, x, y) == without(points_b, points_a).empty());
      }
  }
  CHECK(made > 400);
  CHECK(proved > 100);
}

// Lists of very different lengths are merged in another way.
TEST_CASE("[regions] long lists of runs beside short ones") {
  for (const std::uint64_t seed : random_seeds(20, 500)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto list = [&](std::int64_t runs, std::int64_t longest) {
      std::vector<Run> made;
      for (std::int64_t i = 0; i < runs; ++i) {
        const std::int64_t lo = between(random, 0, 4000);
        made.push_back({lo, lo + between(random, 0, longest)});
      }
      return Intervals::of(made);
    };
    const Intervals a = list(600, 4), b = list(between(random, 0, 12), 200);
    std::vector<bool> in_a(4300), in_b(4300);
    for (const Run& run : a.runs()) std::fill(in_a.begin() + run.lo, in_a.begin() + run.hi, true);
    for (const Run& run : b.runs()) std::fill(in_b.begin() + run.lo, in_b.begin() + run.hi, true);
    std::int64_t rank = 0;
    std::optional<std::int64_t> first;
    const Intervals in_both = a & b, swapped = b & a, any = a | b, left = a - b, right = b - a;
    for (std::int64_t i = 0; i < 4300; ++i) {
      const bool x = in_a[static_cast<std::size_t>(i)], y = in_b[static_cast<std::size_t>(i)];
      CHECK(a.contains(i) == x);
      CHECK(in_both.contains(i) == (x && y));
      CHECK(any.contains(i) == (x || y));
      CHECK(left.contains(i) == (x && !y));
      CHECK(right.contains(i) == (y && !x));
      CHECK(a.rank_of(i) == rank);
      if (x) CHECK(a.nth(rank) == i);
      rank += x;
      if (x && y && !first) first = i;
    }
    CHECK(in_both == swapped);
    CHECK(common_point(a, b) == first);
    CHECK(common_point(b, a) == first);
    CHECK(a.ranked(10, 30).size() == 20);
  }
}

}  // namespace taskspec::regions_prop_test
