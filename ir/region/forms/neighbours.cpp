#include "ir/region/forms/neighbours.hpp"

#include <algorithm>

#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {
namespace {

// One axis of a root, over the row-major index: neighbours along it lie `stride` apart, inside blocks of `block`.
struct Axis {
  std::int64_t stride, extent, block;
  Axis(const Rect& root, std::size_t axis) : stride(1), extent(root.extent(axis)) {
    for (std::size_t inner = axis + 1; inner < root.rank; ++inner) stride *= root.extent(inner);
    block = stride * extent;
  }
};

// All points one way along an axis; those that would leave the root are dropped.
Intervals moved(const Intervals& points, const Axis& axis, std::int64_t by) {
  const std::int64_t distance = by * axis.stride;
  std::vector<Run> runs;
  for (Run run : points.runs())
    while (run.lo < run.hi) {
      const std::int64_t begin = run.lo / axis.block * axis.block, end = begin + axis.block;
      const Run part{run.lo, std::min(run.hi, end)};
      const Run at{std::max(begin, part.lo + distance), std::min(end, part.hi + distance)};
      if (at.lo < at.hi) runs.push_back(at);
      run.lo = part.hi;
    }
  return Intervals::of(std::move(runs));
}

// With doubled steps: what is there is moved once more, by as much as it already reaches.
Intervals grown_along(const Intervals& points, const Axis& axis, std::int64_t k) {
  k = std::min(k, axis.extent);
  Intervals up = points, down = points;
  for (std::int64_t reach = 0; reach < k;) {
    const std::int64_t step = std::min(reach + 1, k - reach);
    up = up | moved(up, axis, step);
    down = down | moved(down, axis, -step);
    reach += step;
  }
  return up | down;
}

Rect grown_along(const Rect& root, Rect rect, std::size_t axis, std::int64_t k) {
  k = std::min(k, root.extent(axis));
  rect.lo[axis] = std::max(root.lo[axis], rect.lo[axis] - k);
  rect.hi[axis] = std::min(root.hi[axis], rect.hi[axis] + k);
  return rect;
}

// The parts of an axis that a range and its k neighbours are, round the ends of the box: one, or one at each end.
std::vector<Run> round_ends(Run range, Run box, std::int64_t k) {
  if (k >= box.size() - range.size() || 2 * k >= box.size() - range.size()) return {box};
  const Run near{range.lo - k, range.hi + k};
  if (near.lo < box.lo) return {{box.lo, near.hi}, {near.lo + box.size(), box.hi}};
  if (near.hi > box.hi) return {{box.lo, near.hi - box.size()}, {near.lo, box.hi}};
  return {near};
}

// Rectangles that together are the neighbourhood of one: of a box all products of those parts, of a star one axis at a
// time.
void near_round(const Rect& box, const Rect& rect, std::int64_t k, HaloShape shape,
                FunctionRef<void(const Rect&)> visit) {
  std::vector<Rect> made{rect};
  for (std::size_t axis = 0; axis < rect.rank; ++axis) {
    if (shape == HaloShape::star) made.assign(1, rect);
    std::vector<Rect> next;
    for (const Rect& part : made)
      for (const Run run : round_ends({rect.lo[axis], rect.hi[axis]}, {box.lo[axis], box.hi[axis]}, k)) {
        next.push_back(part);
        next.back().lo[axis] = run.lo;
        next.back().hi[axis] = run.hi;
      }
    made = std::move(next);
    if (shape == HaloShape::star) std::ranges::for_each(made, visit);
  }
  if (shape == HaloShape::box) std::ranges::for_each(made, visit);
}

Rect without_border(const Rect& root, std::int64_t k) {
  Rect inner = root;
  for (std::size_t axis = 0; axis < root.rank; ++axis) {
    const std::int64_t border = std::min(k, root.extent(axis));
    inner.lo[axis] += border;
    inner.hi[axis] = std::max(inner.lo[axis], inner.hi[axis] - border);
  }
  return inner;
}

}  // namespace

IndexSpace grown(const Rect& root, const IndexSpace& points, std::int64_t k, HaloShape shape) {
  if (points.empty() || k == 0) return points;
  if (points.is_rect() && (shape == HaloShape::box || root.rank == 1)) {
    Rect rect = points.rect();
    for (std::size_t axis = 0; axis < root.rank; ++axis) rect = grown_along(root, rect, axis, k);
    return rect;
  }
  if (points.is_rect()) {
    IndexSpace star = points;
    for (std::size_t axis = 0; axis < root.rank; ++axis)
      star = unite(root, star, grown_along(root, points.rect(), axis, k));
    return star;
  }
  Intervals made = points.intervals();
  for (std::size_t axis = 0; axis < root.rank; ++axis) {
    const Axis along(root, axis);
    made = shape == HaloShape::box ? grown_along(made, along, k) : made | grown_along(points.intervals(), along, k);
  }
  return {root, std::move(made)};
}

IndexSpace grown_round(const Rect& root, const Rect& box, const IndexSpace& points, std::int64_t k, HaloShape shape) {
  if (points.empty() || k == 0) return points;
  std::vector<Rect> made;
  points.rects(root, [&](const Rect& rect) {
    near_round(box, rect, k, shape, [&](const Rect& near) { made.push_back(near); });
  });
  if (made.size() == 1) return made[0];
  std::vector<Run> runs;
  for (const Rect& rect : made) IndexSpace(rect).runs(root, [&](Run run) { runs.push_back(run); });
  return {root, Intervals::of(std::move(runs))};
}

IndexSpace shrunk(const Rect& root, const IndexSpace& points, std::int64_t k) {
  if (points.empty() || k == 0) return points;
  if (points.is_rect()) return without_border(points.rect(), k);
  // What is not near a point outside of them.
  const IndexSpace outside = grown(root, subtract(root, root, points), k, HaloShape::box);
  return intersect(root, subtract(root, points, outside), without_border(root, k));
}

IndexSpace HaloForm::piece(const RegionForest& forest, const Point& colour) const {
  const Rect& root = forest.root(of_);
  const IndexSpace own = forest.points({forest[of_].parent.root, of_, colour});
  const IndexSpace of = forest.points(forest[of_].parent);
  if (wraps_) return grown_round(root, of.rect(), own, k_, shape_);
  const IndexSpace made = grown(root, own, k_, shape_);
  return of.is_rect() && of.rect() == root ? made : intersect(root, made, of);
}

bool HaloForm::touching(const RegionForest& forest, const IndexSpace& points,
                        FunctionRef<bool(const Rect&)> visit) const {
  // A star is a part of the box around it, and the box of the points a part of what it could reach.
  if (wraps_) {
    const Rect box = forest.points(forest[of_].parent).rect(), inside = intersect(points.rect(), box);
    if (inside.empty()) return true;
    const IndexSpace near = grown_round(forest.root(of_), box, inside, k_, HaloShape::box);
    bool goes_on = true;
    near.rects(forest.root(of_),
               [&](const Rect& rect) { goes_on = goes_on && forest[of_].form->touching(forest, rect, visit); });
    return goes_on;
  }
  const IndexSpace near = grown(forest.root(of_), points.rect(), k_, HaloShape::box);
  return forest[of_].form->touching(forest, near, visit);
}

std::optional<bool> HaloForm::disjoint(const RegionForest& forest) const {
  if (k_ == 0 || !forest.disjoint(of_)) return forest.disjoint(of_);
  return std::nullopt;
}

std::optional<bool> HaloForm::complete(const RegionForest& forest) const {
  if (k_ == 0 || forest.complete(of_)) return forest.complete(of_);
  return std::nullopt;
}

std::optional<std::int64_t> HaloForm::middle(const RegionForest& forest, const Rect& box, std::size_t axis) const {
  return forest[of_].form->middle(forest, box, axis);
}

void HaloForm::put_key(std::string& key, const RegionForest& forest) const {
  key += 'h';
  put_hash(key, forest[of_].content);
  put_signed(key, k_);
  put_number(key, static_cast<std::uint64_t>(shape_) + (wraps_ ? 2 : 0));
}

void ShrinkForm::put_key(std::string& key, const RegionForest&) const {
  key += 'i';
  put_space(key, points_);
}

}  // namespace taskspec
