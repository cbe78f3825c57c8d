// by_field, image, preimage: partitions made of what stands in an index field.
#include <algorithm>
#include <cstring>

#include "ir/region/forms/table.hpp"
#include "ir/region/operator_checks.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {
namespace {

template <class T>
std::int64_t element(const std::byte* base, std::int64_t index) {
  T value;
  std::memcpy(&value, base + static_cast<std::size_t>(index) * sizeof value, sizeof value);
  return static_cast<std::int64_t>(value);
}

// Ascending points become runs.
void append(std::vector<Run>& runs, std::int64_t point) {
  if (!runs.empty() && runs.back().hi == point)
    ++runs.back().hi;
  else
    runs.push_back({point, point + 1});
}

template <class Visit>
void each_index(const Rect& root, const IndexSpace& points, Visit visit) {
  points.runs(root, [&](Run run) {
    for (std::int64_t i = run.lo; i < run.hi; ++i) visit(i);
  });
}

std::vector<IndexSpace> spaces(const Rect& root, std::vector<std::vector<Run>> runs) {
  std::vector<IndexSpace> made;
  made.reserve(runs.size());
  for (std::vector<Run>& piece : runs) made.emplace_back(root, Intervals::of(std::move(piece)));
  return made;
}

// "wires.a[(3, 4)] is 1003, which names no point of Node[1000]"
Error names_no_point(const RegionForest& forest, const IndexValues& values, const Rect& at, std::int64_t i,
                     const std::string& what, RegionId target, Span span) {
  return failure(
      "E5003", span,
      values.name + "[" + at.point(i).index() + "] is " + what + ", which names no point of " + forest[target].text());
}

// One piece of an image for each of p: `collect` adds the runs that point i of p's region names.
template <class Collect>
PartitionId image_by(RegionForest& forest, const Space& target, PartitionId p, Collect collect, Span span) {
  check_table_size(forest[p].colours.size(), span);
  const Rect root = forest.root(target), source = forest.root(p);
  const IndexSpace inside = forest.points(target);
  std::vector<IndexSpace> pieces;
  each_point(forest[p].colours, [&](const Point& colour) {
    std::vector<Run> runs;
    each_index(source, forest[p].form->piece(forest, colour), [&](std::int64_t i) { collect(i, runs); });
    const IndexSpace named(root, Intervals::of(std::move(runs)));
    pieces.push_back(intersect(root, named, inside));
    return true;
  });
  return add_table(forest, target, forest[p].colours, std::move(pieces), span);
}

}  // namespace

std::int64_t IndexValues::operator[](std::int64_t linear) const {
  switch (info(precision).bytes) {
    case 1:
      return precision == Precision::u8 ? element<std::uint8_t>(base, linear) : element<std::int8_t>(base, linear);
    case 2:
      return precision == Precision::u16 ? element<std::uint16_t>(base, linear) : element<std::int16_t>(base, linear);
    case 4:
      return precision == Precision::u32 ? element<std::uint32_t>(base, linear) : element<std::int32_t>(base, linear);
    default:
      return element<std::int64_t>(base, linear);
  }
}

PartitionId by_field(RegionForest& forest, const Space& space, const IndexValues& values, std::int64_t pieces,
                     Span span) {
  check_integers(values, span);
  if (pieces < 1) throw failure("E1003", span, "by_field wants at least one piece, not " + std::to_string(pieces));
  check_table_size(pieces, span);
  if (!values.known) {
    PieceOrigin origin{.op = "by_field", .fields = {values.field}};
    return add_open(forest, space, colours_of(pieces), std::move(origin), true, span);
  }
  const Rect& root = forest.root(space);
  std::vector<std::vector<Run>> runs(static_cast<std::size_t>(pieces));
  each_index(root, forest.points(space), [&](std::int64_t i) {
    const std::int64_t colour = values[i];
    if (colour >= 0 && colour < pieces) append(runs[static_cast<std::size_t>(colour)], i);
  });
  return add_table(forest, space, colours_of(pieces), spaces(root, std::move(runs)), span);
}

PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& values, Span span) {
  check_integers(values, span);
  if (!values.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "image", .of = {p}, .fields = {values.field}};
    return add_open(forest, target, forest[p].colours, std::move(origin), false, span);
  }
  const std::int64_t size = forest.root(target).size();
  const Rect source = forest.root(p);
  auto collect = [&](std::int64_t i, std::vector<Run>& runs) {
    const std::int64_t point = values[i];
    if (point < 0 || point >= size)
      throw names_no_point(forest, values, source, i, std::to_string(point), target.root, span);
    append(runs, point);
  };
  return image_by(forest, target, p, collect, span);
}

PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& first,
                  const IndexValues& last, Span span) {
  check_integers(first, span);
  check_integers(last, span);
  if (!first.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "image", .of = {p}, .fields = {first.field, last.field}};
    return add_open(forest, target, forest[p].colours, std::move(origin), false, span);
  }
  const std::int64_t size = forest.root(target).size();
  const Rect source = forest.root(p);
  auto collect = [&](std::int64_t i, std::vector<Run>& runs) {
    const Run run{first[i], last[i]};
    if (run.lo >= run.hi) return;
    if (run.lo < 0 || run.hi > size)
      throw names_no_point(forest, run.lo < 0 ? first : last, source, i,
                           run.lo < 0 ? std::to_string(run.lo) : "the end of a range, " + std::to_string(run.hi),
                           target.root, span);
    runs.push_back(run);
  };
  return image_by(forest, target, p, collect, span);
}

PartitionId preimage(RegionForest& forest, PartitionId p, const Space& source, const IndexValues& values, Span span) {
  check_integers(values, span);
  if (!values.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "preimage", .of = {p}, .fields = {values.field}};
    return add_open(forest, source, forest[p].colours, std::move(origin), forest.disjoint(p), span);
  }
  const Rect colours = forest[p].colours, target = forest.root(p), root = forest.root(source);
  check_table_size(colours.size(), span);
  const PieceForm& form = *forest[p].form;
  std::vector<std::vector<Run>> runs(static_cast<std::size_t>(colours.size()));
  const std::int64_t size = target.size();
  each_index(root, forest.points(source), [&](std::int64_t i) {
    const std::int64_t value = values[i];
    if (value < 0 || value >= size) return;
    const Point point = target.point(value);
    form.touching(forest, Rect::at(point), [&](const Rect& near) {
      return each_point(intersect(near, colours), [&](const Point& colour) {
        std::vector<Run>& of = runs[static_cast<std::size_t>(colours.linear(colour))];
        const bool is_new = of.empty() || of.back().hi <= i;  // a colour may come twice
        if (is_new && form.piece(forest, colour).contains(target, point)) append(of, i);
        return true;
      });
    });
  });
  return add_table(forest, source, colours, spaces(root, std::move(runs)), span);
}

}  // namespace taskspec
