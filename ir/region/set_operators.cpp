// halo and shrink; & | - and cross of partitions and spaces.
#include "ir/region/forms/neighbours.hpp"
#include "ir/region/forms/sets.hpp"
#include "ir/region/forms/table.hpp"
#include "ir/region/operator_checks.hpp"

namespace taskspec {
namespace {

// What was made of a table is a table, so that no piece is computed twice; formulas stay formulas. Nobody knows the
// pieces of what was made of such.
PartitionId add_form(RegionForest& forest, const Space& parent, const Rect& colours, bool of_table,
                     std::shared_ptr<const PieceForm> form, Span span) {
  bool open = false;
  form->each_operand([&](PartitionId operand) { open = open || is_open(forest, operand); });
  if (open) return add_open(forest, parent, colours, form->origin(), form->disjoint(forest).value_or(false), span);
  if (!of_table) return forest.add(parent, colours, std::move(form), span);
  const Run own = own_colours(forest, colours);
  std::vector<IndexSpace> pieces;
  pieces.reserve(static_cast<std::size_t>(own.size()));
  for (std::int64_t colour = own.lo; colour < own.hi; ++colour)
    pieces.push_back(form->piece(forest, colours.point(colour)));
  std::string made_of;
  form->put_key(made_of, forest);
  return add_table(forest, parent, colours, std::move(pieces), made_of, span);
}

PartitionId combine(RegionForest& forest, SetOperator op, PartitionId p, PartitionId q, Span span) {
  check_same_colours(forest, p, q, span);
  const Space parent =
      op == SetOperator::unite ? forest.common_ancestor(forest[p].parent, forest[q].parent) : forest[p].parent;
  const bool of_table = forest[p].form->is_table() || forest[q].form->is_table();
  return add_form(forest, parent, forest[p].colours, of_table, std::make_shared<SetForm>(op, p, q), span);
}

PartitionId combine(RegionForest& forest, SetOperator op, PartitionId p, const Space& space, Span span) {
  check_same_root(forest, forest[p].parent.root, space.root, span);
  const Space parent = op == SetOperator::unite ? forest.common_ancestor(forest[p].parent, space) : forest[p].parent;
  return add_form(forest, parent, forest[p].colours, forest[p].form->is_table(),
                  std::make_shared<SetForm>(op, p, space, forest.points(space)), span);
}

Space combine(RegionForest& forest, SetOperator op, const Space& a, const Space& b, Span span) {
  check_same_root(forest, a.root, b.root, span);
  const Space parent = op == SetOperator::unite ? forest.common_ancestor(a, b) : a;
  std::vector<IndexSpace> one;
  one.push_back(taskspec::combine(forest.root(a), op, forest.points(a), forest.points(b)));
  return {a.root, add_table(forest, parent, Rect::of({}), std::move(one), {}, span), Point::none()};
}

void check_distance(std::int64_t k, const char* name, Span span) {
  if (k < 0) throw failure("E1003", span, std::string(name) + " wants a distance from 0 on, not " + std::to_string(k));
}

}  // namespace

PartitionId halo(RegionForest& forest, PartitionId p, std::int64_t k, HaloShape shape, Span span) {
  check_distance(k, "halo", span);
  return add_form(forest, forest[p].parent, forest[p].colours, forest[p].form->is_table(),
                  std::make_shared<HaloForm>(p, k, shape, false), span);
}

PartitionId periodic_halo(RegionForest& forest, PartitionId p, std::int64_t k, HaloShape shape, Span span) {
  check_distance(k, "halo", span);
  if (!forest.points(forest[p].parent).is_rect())
    throw failure("E1003", span, "a halo that wraps goes around a rectangle, and these are pieces of scattered points");
  return add_form(forest, forest[p].parent, forest[p].colours, forest[p].form->is_table(),
                  std::make_shared<HaloForm>(p, k, shape, true), span);
}

Space shrink(RegionForest& forest, const Space& space, std::int64_t k, Span span) {
  check_distance(k, "shrink", span);
  auto form = std::make_shared<ShrinkForm>(forest.root(space), forest.points(space), k);
  return {space.root, forest.add(space, Rect::of({}), std::move(form), span), Point::none()};
}

PartitionId cross(RegionForest& forest, PartitionId p, PartitionId q, Span span) {
  const Rect &left = forest[p].colours, &right = forest[q].colours;
  check_same_root(forest, forest[p].parent.root, forest[q].parent.root, span);
  if (left.rank + right.rank > highest_rank)
    throw failure(
        "E1003", span,
        "colours of cross would have " + std::to_string(left.rank + right.rank) + " axes, at most 4 are there");
  Rect colours = left;
  for (std::size_t axis = 0; axis < right.rank; ++axis) {
    colours.lo[left.rank + axis] = right.lo[axis];
    colours.hi[left.rank + axis] = right.hi[axis];
  }
  colours.rank = static_cast<std::uint8_t>(left.rank + right.rank);
  if (colours.size() == INT64_MAX) throw failure("E5008", span, "more pieces than can be counted");
  return add_form(forest, forest[p].parent, colours, false, std::make_shared<CrossForm>(p, q), span);
}

PartitionId intersect(RegionForest& forest, PartitionId p, PartitionId q, Span span) {
  return combine(forest, SetOperator::intersect, p, q, span);
}
PartitionId unite(RegionForest& forest, PartitionId p, PartitionId q, Span span) {
  return combine(forest, SetOperator::unite, p, q, span);
}
PartitionId subtract(RegionForest& forest, PartitionId p, PartitionId q, Span span) {
  return combine(forest, SetOperator::subtract, p, q, span);
}
PartitionId intersect(RegionForest& forest, PartitionId p, const Space& space, Span span) {
  return combine(forest, SetOperator::intersect, p, space, span);
}
PartitionId unite(RegionForest& forest, PartitionId p, const Space& space, Span span) {
  return combine(forest, SetOperator::unite, p, space, span);
}
PartitionId subtract(RegionForest& forest, PartitionId p, const Space& space, Span span) {
  return combine(forest, SetOperator::subtract, p, space, span);
}
Space intersect(RegionForest& forest, const Space& a, const Space& b, Span span) {
  return combine(forest, SetOperator::intersect, a, b, span);
}
Space unite(RegionForest& forest, const Space& a, const Space& b, Span span) {
  return combine(forest, SetOperator::unite, a, b, span);
}
Space subtract(RegionForest& forest, const Space& a, const Space& b, Span span) {
  return combine(forest, SetOperator::subtract, a, b, span);
}

}  // namespace taskspec
