// blocks, by_weight, cover: a space taken apart by counts, by weights, by a list.
#include <algorithm>
#include <cmath>

#include "ir/region/forms/split.hpp"
#include "ir/region/forms/table.hpp"
#include "ir/region/operator_checks.hpp"

namespace taskspec {

PartitionId blocks(RegionForest& forest, const Space& space, const Point& counts, Span span) {
  const Rect& root = forest.root(space);
  for (std::size_t axis = 0; axis < counts.rank; ++axis)
    if (counts.at[axis] < 1)
      throw failure("E1003", span, "blocks wants at least one piece, not " + std::to_string(counts.at[axis]));
  if (counts.rank != 1 && counts.rank != root.rank)
    throw failure("E1003", span,
                  "blocks wants one number of pieces, or one for each axis: " + std::to_string(counts.rank) +
                      " are given for " + forest[space.root].text());
  Rect colours{{}, counts.at, counts.rank};
  if (colours.size() == INT64_MAX) throw failure("E5008", span, "more pieces than can be counted");
  const IndexSpace points = forest.points(space);
  if (points.is_rect())
    return forest.add(space, colours, std::make_shared<BlocksForm>(points.rect(), counts, counts.rank), span);
  if (counts.rank != 1)
    throw failure("E1003", span,
                  "points that are no rectangle can be taken apart into one number of blocks, not along axes");
  return forest.add(space, colours, std::make_shared<SparseBlocksForm>(root, points.intervals(), counts.at[0]), span);
}

PartitionId by_weight(RegionForest& forest, const Space& space, std::span<const double> weights, Span span) {
  if (weights.empty()) throw failure("E1003", span, "by_weight wants at least one weight");
  double total = 0;
  for (const double weight : weights) {
    if (!(weight >= 0) || std::isinf(weight)) throw failure("E1003", span, "a weight is a number from 0 on");
    total += weight;
  }
  if (total <= 0 || std::isinf(total)) throw failure("E1003", span, "weights must have a sum above 0 that is finite");
  const Rect& root = forest.root(space);
  const IndexSpace points = forest.points(space);
  const std::int64_t things = points.is_rect() ? points.rect().extent(0) : points.size();
  std::vector<IndexSpace> pieces;
  std::int64_t begin = 0;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    // The last one has what is left, whatever was rounded.
    const double share = std::floor(sum / total * static_cast<double>(things));
    const std::int64_t end =
        i + 1 == weights.size() ? things : std::clamp(static_cast<std::int64_t>(share), begin, things);
    if (points.is_rect()) {
      Rect rect = points.rect();
      rect.hi[0] = rect.lo[0] + end;
      rect.lo[0] += begin;
      pieces.emplace_back(rect);
    } else {
      pieces.emplace_back(root, points.intervals().ranked(begin, end));
    }
    begin = end;
  }
  return add_table(forest, space, colours_of(static_cast<std::int64_t>(weights.size())), std::move(pieces), span);
}

PartitionId cover(RegionForest& forest, const Space& space, const std::vector<std::vector<Run>>& pieces, Span span) {
  const Rect& root = forest.root(space);
  const IndexSpace points = forest.points(space);
  const std::int64_t size = root.size();
  check_table_size(static_cast<std::int64_t>(pieces.size()), span);
  std::vector<IndexSpace> made;
  for (std::size_t colour = 0; colour < pieces.size(); ++colour) {
    for (const Run& run : pieces[colour])
      if (run.lo < run.hi && (run.lo < 0 || run.hi > size))
        throw failure("E5003", span,
                      "piece " + std::to_string(colour) + " of cover names the points " + std::to_string(run.lo) +
                          ".." + std::to_string(run.hi) + ", and " + forest[space.root].text() + " has 0.." +
                          std::to_string(size));
    made.emplace_back(root, Intervals::of(pieces[colour]));
    if (!includes(root, points, made.back()))
      throw failure("E5003", span,
                    "piece " + std::to_string(colour) + " of cover has point " +
                        first_point(root, subtract(root, made.back(), points))->text() +
                        ", which is not in the piece that is taken apart");
  }
  return add_table(forest, space, colours_of(static_cast<std::int64_t>(pieces.size())), std::move(made), span);
}

}  // namespace taskspec
