#include "ir/region/piece_form.hpp"

#include <algorithm>

namespace taskspec {

void PieceForm::each_operand(FunctionRef<void(PartitionId)>) const {}

void PieceForm::meeting(const RegionForest& forest, const Partition& own, const IndexSpace& points, Meets visit) const {
  constexpr std::int64_t close = 4;
  const Rect& root = forest.root(own.parent);
  std::vector<std::int64_t> found;
  auto look = [&](const IndexSpace& at) {
    touching(forest, at, [&](const Rect& near) {
      return each_point(intersect(near, own.colours), [&](const Point& colour) {
        found.push_back(own.colours.linear(colour));
        return true;
      });
    });
  };
  // Points that lie far apart one run after the other: around all of them there may be anything.
  if (points.is_rect() || points.bounds(root).size() <= close * points.size())
    look(points);
  else
    points.runs(root, [&](Run run) { look({root, Intervals::of_sorted({run})}); });
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  for (const std::int64_t number : found) {
    const Point colour = own.colours.point(number);
    if (const IndexSpace part = intersect(root, points, piece(forest, colour)); !part.empty()) visit(colour, part);
  }
}

}  // namespace taskspec
