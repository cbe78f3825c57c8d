#include "tests/unit/random_regions.hpp"

#include <algorithm>
#include <numeric>

#include "tests/unit/random_cases.hpp"

using namespace taskspec;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

PointSet combined(std::int64_t op, const PointSet& a, const PointSet& b) {
  return op == 0 ? both(a, b) : op == 1 ? either(a, b) : without(a, b);
}

IndexValues field(const std::vector<std::int64_t>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), Precision::i64, "f"};
}

PointSet near(const Rect& root, const PointSet& points, std::int64_t k, HaloShape shape) {
  PointSet made;
  for (std::int64_t i = 0; i < root.size(); ++i)
    for (const std::int64_t j : points) {
      std::int64_t axes = 0;
      bool is_near = true;
      for (std::size_t axis = 0; axis < root.rank; ++axis) {
        const std::int64_t distance = std::abs(root.point(i).at[axis] - root.point(j).at[axis]);
        is_near = is_near && distance <= k;
        axes += distance > 0;
      }
      if (is_near && (shape == HaloShape::box || axes <= 1)) made.insert(i);
    }
  return made;
}

// Round the ends of a box, which has all these points.
PointSet near_round(const Rect& root, const Rect& box, const PointSet& points, std::int64_t k, HaloShape shape) {
  PointSet made;
  each_point(box, [&](const Point& i) {
    for (const std::int64_t j : points) {
      std::int64_t axes = 0;
      bool is_near = true;
      for (std::size_t axis = 0; axis < root.rank; ++axis) {
        const std::int64_t apart = std::abs(i.at[axis] - root.point(j).at[axis]);
        const std::int64_t distance = std::min(apart, box.extent(axis) - apart);
        is_near = is_near && distance <= k;
        axes += distance > 0;
      }
      if (is_near && (shape == HaloShape::box || axes <= 1)) made.insert(root.linear(i));
    }
    return true;
  });
  return made;
}

PointSet without_border(const Rect& root, const PointSet& points, std::int64_t k) {
  PointSet made;
  for (const std::int64_t i : points) {
    Rect around = Rect::at(root.point(i));
    for (std::size_t axis = 0; axis < root.rank; ++axis) {
      around.lo[axis] -= k;
      around.hi[axis] += k;
    }
    if (each_point(around, [&](const Point& p) { return root.contains(p) && points.contains(root.linear(p)); }))
      made.insert(i);
  }
  return made;
}

}  // namespace

PointSet both(const PointSet& a, const PointSet& b) {
  PointSet made;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(made, made.end()));
  return made;
}

PointSet either(PointSet a, const PointSet& b) {
  a.insert(b.begin(), b.end());
  return a;
}

PointSet without(const PointSet& a, const PointSet& b) {
  PointSet made;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(made, made.end()));
  return made;
}

PointSet as_set(const IndexSpace& points, const Rect& root) {
  PointSet made;
  points.runs(root, [&](Run run) {
    for (std::int64_t i = run.lo; i < run.hi; ++i) made.insert(made.end(), i);
  });
  return made;
}

GrownForest::GrownForest(std::uint64_t seed) : random_(seed) {
  for (int region = 0; region < 2; ++region) {
    Rect extents;
    extents.rank = static_cast<std::uint8_t>(number(1, 3));
    const std::int64_t longest = extents.rank == 1 ? 40 : extents.rank == 2 ? 8 : 4;
    for (std::size_t axis = 0; axis < extents.rank; ++axis) extents.hi[axis] = number(number(0, 9) ? 1 : 0, longest);
    const RegionId id = forest.add({"Cell", "cells", extents, {{"f", Precision::i64}, {"g", Precision::f64}}});
    PointSet all;
    for (std::int64_t i = 0; i < extents.size(); ++i) all.insert(i);
    spaces.push_back({{id}, all});
  }
}

std::int64_t GrownForest::number(std::int64_t low, std::int64_t high) {
  return between(random_, low, std::max(low, high));
}

std::size_t GrownForest::pick(std::size_t count) { return at(number(0, static_cast<std::int64_t>(count) - 1)); }

void GrownForest::grow() {
  const auto [space, points] = spaces[pick(spaces.size())];
  const Chosen of{space, points};
  const std::int64_t which = nodes.empty() ? 0 : number(0, 15);
  if (which < 5) return take_apart(of);
  if (which < 7) return grow_neighbours();
  if (which < 10) return grow_by_values(of);
  grow_sets(of);
}

void GrownForest::take_apart(const Chosen& of) {
  const Rect root = forest.root(of.space);
  switch (number(0, 4)) {
    case 0:
      return add_blocks(of);
    case 1:
      return add_weighted(of);
    case 2:
      return add_cover(of);
    case 3: {
      const std::int64_t k = number(0, 2);
      spaces.push_back({shrink(forest, of.space, k), without_border(root, of.points, k)});
      return;
    }
    default:
      break;
  }
  const auto values = numbers(root.size(), -1, 4);
  std::vector<PointSet> pieces(4);
  for (const std::int64_t i : of.points)
    if (values[at(i)] >= 0 && values[at(i)] < 4) pieces[at(values[at(i)])].insert(i);
  add(by_field(forest, of.space, field(values), 4), of.points, pieces);
}

void GrownForest::add_blocks(const Chosen& of) {
  const Rect root = forest.root(of.space);
  const IndexSpace points = forest.points(of.space);
  if (!points.is_rect() || root.rank == 1 || number(0, 2) == 0) {
    const std::int64_t n = number(1, 6);
    std::vector<std::int64_t> ends;
    for (std::int64_t c = 1; c <= n; ++c) ends.push_back(c * things(of) / n);
    return add(blocks(forest, of.space, Point::of(n)), of.points, shares(of, ends));
  }
  Point counts{{}, root.rank};
  for (std::size_t axis = 0; axis < root.rank; ++axis) counts.at[axis] = number(1, 3);
  const Rect colours{{}, counts.at, counts.rank}, box = points.rect();
  std::vector<PointSet> pieces(at(colours.size()));
  for (const std::int64_t i : of.points) {
    Point colour{{}, root.rank};
    for (std::size_t axis = 0; axis < root.rank; ++axis)
      while ((colour.at[axis] + 1) * box.extent(axis) / counts.at[axis] <= root.point(i).at[axis] - box.lo[axis])
        ++colour.at[axis];
    pieces[at(colours.linear(colour))].insert(i);
  }
  add(blocks(forest, of.space, counts), of.points, pieces);
}

void GrownForest::add_weighted(const Chosen& of) {
  std::vector<double> weights;
  for (std::int64_t i = number(1, 5); i > 0; --i) weights.push_back(static_cast<double>(number(0, 4)));
  weights[0] += 1;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> ends;
  double sum = 0;
  for (const double weight : weights)
    ends.push_back(static_cast<std::int64_t>((sum += weight) / total * static_cast<double>(things(of))));
  ends.back() = things(of);
  add(by_weight(forest, of.space, weights), of.points, shares(of, ends));
}

void GrownForest::add_cover(const Chosen& of) {
  const std::int64_t size = forest.root(of.space).size();
  std::vector<std::vector<Run>> runs(at(number(1, 4)));
  std::vector<PointSet> pieces(runs.size());
  for (std::size_t c = 0; c < runs.size(); ++c)
    for (std::int64_t k = number(0, 3); k > 0; --k) {
      const Run run{number(0, size), number(0, size)};
      PointSet named;
      for (std::int64_t i = run.lo; i < run.hi; ++i) named.insert(i);
      if (!without(named, of.points).empty()) continue;
      runs[c].push_back(run);
      pieces[c] = either(pieces[c], named);
    }
  add(cover(forest, of.space, runs), of.points, pieces);
}

void GrownForest::grow_neighbours() {
  const GrownPartition p = node();
  const std::int64_t k = number(0, 2);
  const HaloShape shape = number(0, 1) ? HaloShape::box : HaloShape::star;
  std::vector<PointSet> pieces;
  const IndexSpace of = forest.points(forest[p.id].parent);
  if (of.is_rect() && number(0, 1)) {
    for (const PointSet& piece : p.pieces) pieces.push_back(near_round(forest.root(p.id), of.rect(), piece, k, shape));
    return add(periodic_halo(forest, p.id, k, shape), p.parent, pieces);
  }
  for (const PointSet& piece : p.pieces) pieces.push_back(both(near(forest.root(p.id), piece, k, shape), p.parent));
  add(halo(forest, p.id, k, shape), p.parent, pieces);
}

void GrownForest::grow_by_values(const Chosen& of) {
  const GrownPartition p = node();
  const std::int64_t size = forest.root(of.space).size(), count = forest.root(p.id).size();
  std::vector<PointSet> pieces(p.pieces.size());
  const std::int64_t which = number(0, 2);
  if (which == 0) {
    const auto values = numbers(size, -1, count);
    for (const std::int64_t i : of.points)
      for (std::size_t c = 0; c < pieces.size(); ++c)
        if (p.pieces[c].contains(values[at(i)])) pieces[c].insert(i);
    return add(preimage(forest, p.id, of.space, field(values)), of.points, pieces);
  }
  if (size == 0) return;
  const auto first = numbers(count, 0, size - 1), last = numbers(count, 0, size);
  for (std::size_t c = 0; c < pieces.size(); ++c)
    for (const std::int64_t i : p.pieces[c])
      for (std::int64_t k = first[at(i)]; k < (which == 1 ? first[at(i)] + 1 : last[at(i)]); ++k)
        if (of.points.contains(k)) pieces[c].insert(k);
  add(which == 1 ? image(forest, of.space, p.id, field(first))
                 : image(forest, of.space, p.id, field(first), field(last)),
      of.points, pieces);
}

void GrownForest::grow_sets(const Chosen& of) {
  const GrownPartition p = node(), q = node();
  std::vector<PointSet> pieces;
  const std::int64_t which = number(0, 5), op = number(0, 2);
  if (which == 0) {
    if (!same_root(p, q) || forest[p.id].colours.rank + forest[q.id].colours.rank > 4) return;
    if (p.pieces.size() * q.pieces.size() > 40) return;
    for (const PointSet& a : p.pieces)
      for (const PointSet& b : q.pieces) pieces.push_back(both(a, b));
    return add(cross(forest, p.id, q.id), p.parent, pieces);
  }
  if (which < 4) {
    if (of.space.root != forest[p.id].parent.root) return;
    for (const PointSet& a : p.pieces) pieces.push_back(combined(op, a, of.points));
    const PartitionId made = op == 0   ? intersect(forest, p.id, of.space)
                             : op == 1 ? unite(forest, p.id, of.space)
                                       : subtract(forest, p.id, of.space);
    return add(made, parent_of(made, p), pieces);
  }
  if (!same_root(p, q) || !(forest[p.id].colours == forest[q.id].colours)) return;
  for (std::size_t c = 0; c < p.pieces.size(); ++c) pieces.push_back(combined(op, p.pieces[c], q.pieces[c]));
  const PartitionId made = op == 0   ? intersect(forest, p.id, q.id)
                           : op == 1 ? unite(forest, p.id, q.id)
                                     : subtract(forest, p.id, q.id);
  add(made, parent_of(made, p), pieces);
}

bool GrownForest::same_root(const GrownPartition& p, const GrownPartition& q) const {
  return forest[p.id].parent.root == forest[q.id].parent.root;
}

PointSet GrownForest::parent_of(PartitionId made, const GrownPartition& p) const {
  const Space& parent = forest[made].parent;
  return parent == forest[p.id].parent ? p.parent : as_set(forest.points(parent), forest.root(parent));
}

void GrownForest::add(PartitionId id, const PointSet& parent, const std::vector<PointSet>& pieces) {
  nodes.push_back({id, parent, pieces});
  for (int two = 0; two < 2; ++two) {
    const std::size_t c = pick(pieces.size());
    const Point colour = forest[id].colours.point(static_cast<std::int64_t>(c));
    spaces.push_back({{forest[id].parent.root, id, colour}, pieces[c]});
  }
}

std::vector<std::int64_t> GrownForest::numbers(std::int64_t count, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> made(at(count));
  for (std::int64_t& value : made) value = number(low, high);
  return made;
}

// Along the first axis of a rectangle, by the number of the point elsewhere.
std::vector<PointSet> GrownForest::shares(const Chosen& of, const std::vector<std::int64_t>& ends) const {
  std::vector<PointSet> made(ends.size());
  const IndexSpace points = forest.points(of.space);
  std::int64_t count = 0;
  for (const std::int64_t i : of.points) {
    const std::int64_t row = forest.root(of.space).point(i).at[0] - points.rect().lo[0];
    const std::int64_t thing = points.is_rect() ? row : count;
    made[at(std::upper_bound(ends.begin(), ends.end(), thing) - ends.begin())].insert(i);
    ++count;
  }
  return made;
}

std::int64_t GrownForest::things(const Chosen& of) const {
  const IndexSpace points = forest.points(of.space);
  return points.is_rect() ? points.rect().extent(0) : static_cast<std::int64_t>(of.points.size());
}
