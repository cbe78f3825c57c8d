// by_field, image, preimage: partitions made of what stands in an index field.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "ir/region/forms/shared_table.hpp"
#include "ir/region/forms/table.hpp"
#include "ir/region/operator_checks.hpp"
#include "ir/region/piece_form.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {
namespace {

template <class T>
std::int64_t element(const std::byte* base, std::int64_t index) {
  T value;
  std::memcpy(&value, base + static_cast<std::size_t>(index) * sizeof value, sizeof value);
  return static_cast<std::int64_t>(value);
}

// Of the points those whose values this member looks at.
IndexSpace looked_at(const RegionForest& forest, const Rect& root, const IndexSpace& points,
                     const IndexValues& values) {
  if (values.held) return intersect(root, points, {root, *values.held});
  if (!forest.sharing()) return points;
  return intersect(root, points, {root, Intervals::of({share_of(root.size(), *forest.sharing())})});
}

template <class Visit>
void each_index(const Rect& root, const IndexSpace& points, Visit visit) {
  points.runs(root, [&](Run run) {
    for (std::int64_t i = run.lo; i < run.hi; ++i) visit(i);
  });
}

// A value that names no point: the first one in the order of the pieces, then of the points, is told.
struct Astray {
  std::int64_t colour = 0, index = 0, value = 0;
  bool is_end = false;  // of a range
};

// What this member finds of pieces becomes those of its own colours.
class FoundPieces {
 public:
  FoundPieces(const RegionForest& forest, const Rect& colours) : forest_(forest), colours_(colours) {
    if (!forest.sharing()) all_.resize(static_cast<std::size_t>(colours.size()));
  }

  void add(std::int64_t colour, std::int64_t point) {
    std::vector<Run>& runs = this->runs(colour);
    if (!runs.empty() && runs.back().hi == point)
      ++runs.back().hi;
    else
      runs.push_back({point, point + 1});
  }
  void add(std::int64_t colour, Run run) { runs(colour).push_back(run); }
  void add(const Astray& astray) {
    if (!astray_ || std::pair(astray.colour, astray.index) < std::pair(astray_->colour, astray_->index))
      astray_ = astray;
  }

  // By all members in one order.
  std::vector<IndexSpace> pieces(const Rect& root) {
    if (forest_.sharing()) exchange(*forest_.sharing());
    const Run own = own_colours(forest_, colours_);
    std::vector<IndexSpace> made;
    made.reserve(static_cast<std::size_t>(own.size()));
    for (std::int64_t colour = own.lo; colour < own.hi; ++colour)
      made.emplace_back(root, Intervals::of(std::move(runs(colour))));
    return made;
  }
  const std::optional<Astray>& astray() const { return astray_; }  // of all members, once pieces are there

 private:
  std::vector<Run>& runs(std::int64_t colour) {
    return all_.empty() ? some_[colour] : all_[static_cast<std::size_t>(colour)];
  }
  void exchange(PieceSharing& sharing) {
    using Numbers = PieceSharing::Numbers;
    Numbers first = {0, 0, 0, 0, 0};
    if (astray_) first = {1, astray_->colour, astray_->index, astray_->value, astray_->is_end};
    std::vector<Numbers> said(sharing.members(), first);
    for (const auto& [colour, runs] : some_) {
      Numbers& to = said[member_of(colour, colours_.size(), sharing)];
      for (const Run& run : runs) to.insert(to.end(), {colour, run.lo, run.hi});
    }
    some_.clear();
    for (const Numbers& heard : sharing.exchange(std::move(said))) {
      if (heard.at(0) != 0) add(Astray{heard.at(1), heard.at(2), heard.at(3), heard.at(4) != 0});
      for (std::size_t i = first.size(); i + 2 < heard.size(); i += 3)
        some_[heard[i]].push_back({heard[i + 1], heard[i + 2]});
    }
  }

  const RegionForest& forest_;
  const Rect colours_;
  std::vector<std::vector<Run>> all_;              // by colour, of whoever keeps all
  std::map<std::int64_t, std::vector<Run>> some_;  // of a member
  std::optional<Astray> astray_;
};

// Values of two fields that different members hold come to the block shares of the points, where both are looked at.
class SharedValues {
 public:
  SharedValues(PieceSharing& sharing, std::int64_t elements, const IndexValues& values)
      : share_(Intervals::of({share_of(elements, sharing)})), numbers_(static_cast<std::size_t>(share_.size())) {
    using Numbers = PieceSharing::Numbers;
    std::vector<Numbers> said(sharing.members());
    for (const Run& run : values.held->runs())
      for (std::int64_t i = run.lo; i < run.hi; ++i) {
        Numbers& to = said[member_of(i, elements, sharing)];
        to.insert(to.end(), {i, values[i]});
      }
    for (const Numbers& heard : sharing.exchange(std::move(said)))
      for (std::size_t i = 0; i + 1 < heard.size(); i += 2)
        if (share_.contains(heard[i])) numbers_[static_cast<std::size_t>(share_.rank_of(heard[i]))] = heard[i + 1];
    values_ = {
        reinterpret_cast<const std::byte*>(numbers_.data()), Precision::i64, values.name, values.field, true, &share_};
  }
  SharedValues(const SharedValues&) = delete;
  const IndexValues& values() const { return values_; }

 private:
  const Intervals share_;
  std::vector<std::int64_t> numbers_;
  IndexValues values_;
};

// "wires.a[(3, 4)] is 1003, which names no point of Node[1000]"
Error names_no_point(const RegionForest& forest, const std::string& name, const Rect& at, const Astray& astray,
                     RegionId target, Span span) {
  return failure("E5003", span,
                 name + "[" + at.point(astray.index).index() + "] is " + (astray.is_end ? "the end of a range, " : "") +
                     std::to_string(astray.value) + ", which names no point of " + forest[target].text());
}

std::string made_of(const RegionForest& forest, PartitionId p, std::string fields) {
  put_hash(fields, forest[p].content);
  return fields;
}

// One piece of an image for each of p: `collect` adds to a colour what point i of p's region names.
template <class Collect>
PartitionId image_by(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& first,
                     const std::string& last, Collect collect, Span span) {
  const Rect colours = forest[p].colours, root = forest.root(target), source = forest.root(p);
  check_table_size(colours.size(), span);
  const IndexSpace inside = forest.points(target);
  FoundPieces found(forest, colours);
  auto look = [&](const Point& colour, const IndexSpace& points) {
    const std::int64_t number = colours.linear(colour);
    each_index(source, points, [&](std::int64_t i) { collect(i, number, found); });
    return !found.astray() || forest.sharing() != nullptr;
  };
  if (forest.sharing()) {
    forest[p].form->meeting(forest, forest[p], looked_at(forest, source, source, first), look);
  } else {
    each_point(colours, [&](const Point& colour) { return look(colour, forest[p].form->piece(forest, colour)); });
  }
  std::vector<IndexSpace> pieces = found.pieces(root);
  if (const auto& astray = found.astray())
    throw names_no_point(forest, astray->is_end ? last : first.name, source, *astray, target.root, span);
  for (IndexSpace& piece : pieces) piece = intersect(root, piece, inside);
  return add_table(forest, target, colours, std::move(pieces), made_of(forest, p, first.name + " " + last), span);
}

PartitionId image_of_ranges(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& first,
                            const IndexValues& last, Span span) {
  const std::int64_t size = forest.root(target).size();
  auto collect = [&](std::int64_t i, std::int64_t colour, FoundPieces& found) {
    const Run run{first[i], last[i]};
    if (run.lo >= run.hi) return;
    if (run.lo < 0)
      found.add(Astray{colour, i, run.lo, false});
    else if (run.hi > size)
      found.add(Astray{colour, i, run.hi, true});
    else
      found.add(colour, run);
  };
  return image_by(forest, target, p, first, last.name, collect, span);
}

}  // namespace

std::int64_t IndexValues::operator[](std::int64_t linear) const {
  if (held) linear = held->rank_of(linear);
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
  const Rect root = forest.root(space), colours = colours_of(pieces);
  FoundPieces found(forest, colours);
  each_index(root, looked_at(forest, root, forest.points(space), values), [&](std::int64_t i) {
    const std::int64_t colour = values[i];
    if (colour >= 0 && colour < pieces) found.add(colour, i);
  });
  return add_table(forest, space, colours, found.pieces(root), values.name, span);
}

PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& values, Span span) {
  check_integers(values, span);
  if (!values.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "image", .of = {p}, .fields = {values.field}};
    return add_open(forest, target, forest[p].colours, std::move(origin), false, span);
  }
  const std::int64_t size = forest.root(target).size();
  auto collect = [&](std::int64_t i, std::int64_t colour, FoundPieces& found) {
    const std::int64_t point = values[i];
    if (point < 0 || point >= size)
      found.add(Astray{colour, i, point});
    else
      found.add(colour, point);
  };
  return image_by(forest, target, p, values, values.name, collect, span);
}

PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& first,
                  const IndexValues& last, Span span) {
  check_integers(first, span);
  check_integers(last, span);
  if (!first.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "image", .of = {p}, .fields = {first.field, last.field}};
    return add_open(forest, target, forest[p].colours, std::move(origin), false, span);
  }
  if (!first.held || !last.held) return image_of_ranges(forest, target, p, first, last, span);
  const std::int64_t elements = forest.root(p).size();
  const SharedValues lo(*forest.sharing(), elements, first), hi(*forest.sharing(), elements, last);
  return image_of_ranges(forest, target, p, lo.values(), hi.values(), span);
}

PartitionId preimage(RegionForest& forest, PartitionId p, const Space& source, const IndexValues& values, Span span) {
  check_integers(values, span);
  if (!values.known || is_open(forest, p)) {
    PieceOrigin origin{.op = "preimage", .of = {p}, .fields = {values.field}};
    return add_open(forest, source, forest[p].colours, std::move(origin), forest.disjoint(p), span);
  }
  const Rect colours = forest[p].colours, target = forest.root(p), root = forest.root(source);
  check_table_size(colours.size(), span);
  const IndexSpace looked = looked_at(forest, root, forest.points(source), values);
  // Which pieces have the points that are named.
  std::vector<Run> named;
  each_index(root, looked, [&](std::int64_t i) {
    if (const std::int64_t value = values[i]; value >= 0 && value < target.size()) named.push_back({value, value + 1});
  });
  std::vector<ColourRun> pieces;
  forest[p].form->meeting(forest, forest[p], {target, Intervals::of(std::move(named))},
                          [&](const Point& colour, const IndexSpace& part) {
                            const std::int64_t number = colours.linear(colour);
                            part.runs(target, [&](Run run) { pieces.push_back({run, number}); });
                          });
  const RunIndex index(std::move(pieces));
  FoundPieces found(forest, colours);
  each_index(root, looked, [&](std::int64_t i) {
    const std::int64_t value = values[i];
    if (value < 0 || value >= target.size()) return;
    index.each_between({value, value + 1}, [&](const ColourRun& one) {
      found.add(one.colour, i);
      return true;
    });
  });
  return add_table(forest, source, colours, found.pieces(root), made_of(forest, p, values.name), span);
}

}  // namespace taskspec
