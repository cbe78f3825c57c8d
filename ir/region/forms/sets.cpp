#include "ir/region/forms/sets.hpp"

#include <algorithm>

#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

IndexSpace combine(const Rect& root, SetOperator op, const IndexSpace& a, const IndexSpace& b) {
  switch (op) {
    case SetOperator::intersect:
      return intersect(root, a, b);
    case SetOperator::unite:
      return unite(root, a, b);
    case SetOperator::subtract:
      break;
  }
  return subtract(root, a, b);
}

IndexSpace SetForm::piece(const RegionForest& forest, const Point& colour) const {
  const IndexSpace left = forest[left_].form->piece(forest, colour);
  return combine(forest.root(left_), op_, left, right_.valid() ? forest[right_].form->piece(forest, colour) : points_);
}

bool SetForm::touching(const RegionForest& forest, const IndexSpace& points,
                       FunctionRef<bool(const Rect&)> visit) const {
  if (op_ == SetOperator::unite) {
    if (!right_.valid() && meet(forest.root(left_), points, points_)) return visit(forest[left_].colours);
    if (right_.valid() && !forest[right_].form->touching(forest, points, visit)) return false;
  }
  return forest[left_].form->touching(forest, points, visit);
}

std::optional<bool> SetForm::disjoint(const RegionForest& forest) const {
  if (op_ == SetOperator::unite) return std::nullopt;
  // Pieces that became smaller.
  if (forest.disjoint(left_)) return true;
  if (op_ == SetOperator::intersect && right_.valid() && forest.disjoint(right_)) return true;
  return std::nullopt;
}

std::optional<bool> SetForm::complete(const RegionForest& forest) const {
  const Space& parent = forest[left_].parent;
  if (op_ == SetOperator::unite) {
    const Space& other = right_.valid() ? forest[right_].parent : space_;
    if (forest.complete(left_) && forest.common_ancestor(parent, other) == parent) return true;
    return std::nullopt;
  }
  if (!forest.complete(left_)) return false;
  if (right_.valid()) return std::nullopt;
  const IndexSpace whole = forest.points(parent);
  return op_ == SetOperator::intersect ? includes(forest.root(left_), points_, whole)
                                       : !meet(forest.root(left_), points_, whole);
}

std::optional<std::int64_t> SetForm::middle(const RegionForest& forest, const Rect& box, std::size_t axis) const {
  const auto found = forest[left_].form->middle(forest, box, axis);
  return found || !right_.valid() ? found : forest[right_].form->middle(forest, box, axis);
}

namespace {

// The two halves of a colour of cross(p, q).
Point part(const Point& colour, std::size_t from, std::size_t rank) {
  Point made{{}, static_cast<std::uint8_t>(rank)};
  std::copy_n(colour.at.begin() + static_cast<std::ptrdiff_t>(from), rank, made.at.begin());
  return made;
}

Rect beside(Rect left, const Rect& right) {
  std::copy_n(right.lo.begin(), right.rank, left.lo.begin() + left.rank);
  std::copy_n(right.hi.begin(), right.rank, left.hi.begin() + left.rank);
  left.rank = static_cast<std::uint8_t>(left.rank + right.rank);
  return left;
}

}  // namespace

IndexSpace CrossForm::piece(const RegionForest& forest, const Point& colour) const {
  const Partition &left = forest[left_], &right = forest[right_];
  return intersect(forest.root(left_), left.form->piece(forest, part(colour, 0, left.colours.rank)),
                   right.form->piece(forest, part(colour, left.colours.rank, right.colours.rank)));
}

bool CrossForm::touching(const RegionForest& forest, const IndexSpace& points,
                         FunctionRef<bool(const Rect&)> visit) const {
  return forest[left_].form->touching(forest, points, [&](const Rect& left) {
    return forest[right_].form->touching(forest, points, [&](const Rect& right) { return visit(beside(left, right)); });
  });
}

std::optional<bool> CrossForm::disjoint(const RegionForest& forest) const {
  if (forest.disjoint(left_) && forest.disjoint(right_)) return true;
  return std::nullopt;
}

std::optional<bool> CrossForm::complete(const RegionForest& forest) const {
  if (!forest.complete(left_)) return false;
  if (forest[left_].parent == forest[right_].parent) return forest.complete(right_);
  return std::nullopt;
}

std::optional<std::int64_t> CrossForm::middle(const RegionForest& forest, const Rect& box, std::size_t axis) const {
  const auto found = forest[left_].form->middle(forest, box, axis);
  return found ? found : forest[right_].form->middle(forest, box, axis);
}

PieceOrigin SetForm::origin() const {
  static constexpr std::string_view names[] = {"&", "|", "-"};
  PieceOrigin origin{.op = names[static_cast<std::size_t>(op_)], .of = {left_}};
  if (right_.valid())
    origin.of.push_back(right_);
  else
    origin.space = space_;
  return origin;
}

void SetForm::put_key(std::string& key, const RegionForest& forest) const {
  key += 's';
  put_number(key, static_cast<std::uint64_t>(op_));
  put_hash(key, forest[left_].content);
  put_number(key, right_.valid());
  if (right_.valid())
    put_hash(key, forest[right_].content);
  else
    put_space(key, points_);
}

void CrossForm::put_key(std::string& key, const RegionForest& forest) const {
  key += 'x';
  put_hash(key, forest[left_].content);
  put_hash(key, forest[right_].content);
}

}  // namespace taskspec
