#include "ir/region/forest.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"
#include "ir/base/text.hpp"
#include "ir/region/made_here.hpp"
#include "ir/region/piece_form.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {
namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 62;
// Beyond so many pieces nobody looks at each: what no form knows counts as not so.
constexpr std::int64_t most_pieces_looked_at = std::int64_t{1} << 26;

using Known = Partition::Known;

template <class Find>
bool known(Known& kept, Find find) {
  if (kept == Known::unknown) kept = find() ? Known::yes : Known::no;
  return kept == Known::yes;
}

}  // namespace

std::string Region::text() const { return fields_name + extents.extents(); }

RegionId RegionForest::add(Region region, Span span) {
  if (region.extents.rank < 1 || region.extents.rank > highest_rank)
    throw failure("E1003", span, "a region has 1 to 4 axes, not " + std::to_string(region.extents.rank));
  for (std::size_t axis = 0; axis < region.extents.rank; ++axis)
    if (region.extents.hi[axis] < 0)
      throw failure("E1003", span,
                    "a region cannot have " + std::to_string(region.extents.hi[axis]) + " points along axis " +
                        std::to_string(axis));
  if (region.extents.size() > most_points)
    throw failure("E5008", span, "a region " + region.text() + " has more points than can be counted (2^62)");
  region.made = span;
  return RegionId(roots_.add({std::move(region), {}, roots_.made()}));
}

PartitionId RegionForest::add(const Space& of, const Rect& colours, std::shared_ptr<const PieceForm> form, Span span) {
  const Space parent = of;  // which may be that of another partition: their table moves
  const Partition* above_it = above(parent);
  std::string key;
  put_rect(key, root(parent));
  if (above_it) put_hash(key, above_it->content);
  put_point(key, parent.colour);
  put_rect(key, colours);
  form->put_key(key, *this);
  const Hash128 content = hash128(key);
  std::map<Hash128, PartitionId>& known = roots_[parent.root.index()].partitions;
  const auto [entry, fresh] = known.emplace(content, PartitionId());
  if (!fresh) return entry->second;
  try {
    Partition made{parent, colours, form, span, above_it ? above_it->depth + 1 : 0};
    made.content = content;
    made.serial = partitions_.made();
    entry->second = PartitionId(partitions_.add(std::move(made)));
  } catch (...) {
    known.erase(entry);
    throw;
  }
  if (parent.partition.valid()) hold(parent.partition);
  form->each_operand([this](PartitionId operand) { hold(operand); });
  return entry->second;
}

void RegionForest::remove(RegionId id) {
  for (const auto& [content, partition] : roots_[id.index()].partitions) partitions_.free(partition.index());
  roots_.free(id.index());
}

// Those that go are chained one to the next: there may be any number, and there is no memory to ask for.
void RegionForest::release(PartitionId id, FunctionRef<void(PartitionId)> gone) {
  PartitionId going;
  auto drop = [&](PartitionId held) {
    Partition& partition = partitions_[held.index()];
    if (--partition.holders > 0 || !partition.counted) return;
    partition.next = going;
    going = held;
  };
  drop(id);
  while (going.valid()) {
    const PartitionId last = going;
    Partition& partition = partitions_[last.index()];
    going = partition.next;
    gone(last);
    if (partition.parent.partition.valid()) drop(partition.parent.partition);
    partition.form->each_operand(drop);
    roots_[partition.parent.root.index()].partitions.erase(partition.content);
    partitions_.free(last.index());
  }
}

const Partition* RegionForest::above(const Space& space) const {
  return space.partition.valid() ? &partitions_[space.partition.index()] : nullptr;
}

IndexSpace RegionForest::points(const Space& space) const {
  if (!space.partition.valid()) return (*this)[space.root].extents;
  return (*this)[space.partition].form->piece(*this, space.colour);
}

Space RegionForest::piece(PartitionId id, const Point& colour, Span span) const {
  const Partition& partition = (*this)[id];
  if (colour.rank != partition.colours.rank)
    throw failure("E1003", span,
                  "the partition has colours of rank " + std::to_string(partition.colours.rank) + ", and " +
                      colour.text() + " has rank " + std::to_string(colour.rank),
                  partition);
  if (!partition.colours.contains(colour))
    throw failure("E5003", span,
                  "colour " + colour.text() + " is beyond the partition: its colours are " + partition.colours.text(),
                  partition);
  return {partition.parent.root, id, colour};
}

bool RegionForest::disjoint(PartitionId id) const {
  const Partition& partition = (*this)[id];
  return known(partition.is_disjoint, [&] {
    if (const auto told = partition.form->disjoint(*this)) return *told;
    return partition.colours.size() <= most_pieces_looked_at && !shared_point(id);
  });
}

bool RegionForest::complete(PartitionId id) const {
  const Partition& partition = (*this)[id];
  return known(partition.is_complete, [&] {
    if (const auto told = partition.form->complete(*this)) return *told;
    return partition.colours.size() <= most_pieces_looked_at && !missing_point(id);
  });
}

std::optional<Shared> RegionForest::shared_point(PartitionId id) const {
  const Partition& partition = (*this)[id];
  const Rect& extents = root(id);
  std::optional<Shared> found;
  each_point(partition.colours, [&](const Point& colour) {
    const IndexSpace points = partition.form->piece(*this, colour);
    if (points.empty()) return true;
    const std::int64_t number = partition.colours.linear(colour);
    return partition.form->touching(*this, points, [&](const Rect& near) {
      return each_point(intersect(near, partition.colours), [&](const Point& other) {
        if (partition.colours.linear(other) <= number) return true;
        const auto point = common_point(extents, points, partition.form->piece(*this, other));
        if (point) found = Shared{*point, colour, other};
        return !found;
      });
    });
  });
  return found;
}

std::optional<Point> RegionForest::missing_point(PartitionId id) const {
  const Partition& partition = (*this)[id];
  const Rect& extents = root(id);
  std::vector<Run> all;
  each_point(partition.colours, [&](const Point& colour) {
    partition.form->piece(*this, colour).runs(extents, [&](Run run) { all.push_back(run); });
    return true;
  });
  const IndexSpace covered(extents, Intervals::of(std::move(all)));
  return first_point(extents, subtract(extents, points(partition.parent), covered));
}

void RegionForest::claim(PartitionId id, Claim claim, bool check, Span span) {
  const Partition& partition = (*this)[id];
  check = check && !partition.form->is_open();  // that is done when its pieces are known
  if (claim == Claim::disjoint) {
    if (check)
      if (const auto shared = shared_point(id))
        throw failure("E3102", span,
                      "the partition is not disjoint: point " + shared->point.text() + " is in the pieces of colours " +
                          shared->first.text() + " and " + shared->second.text(),
                      partition);
    partition.is_disjoint = Known::yes;
    return;
  }
  if (check)
    if (const auto missing = missing_point(id))
      throw failure("E3102", span, "the partition is not complete: point " + missing->text() + " is in no piece",
                    partition);
  partition.is_complete = Known::yes;
}

Space RegionForest::common_ancestor(const Space& a, const Space& b) const {
  Space x = a, y = b;
  auto depth = [&](const Space& space) { return space.partition.valid() ? above(space)->depth + 1 : 0; };
  while (!(x == y)) {
    if (depth(x) >= depth(y))
      x = above(x)->parent;
    else
      y = above(y)->parent;
  }
  return x;
}

bool RegionForest::statically_disjoint(const Space& a, const Space& b) const {
  if (a.root != b.root) return true;
  Space x = a, y = b;
  while (x.partition.valid() && y.partition.valid()) {
    const Partition &over_x = *above(x), &over_y = *above(y);
    if (x.partition == y.partition) return !(x.colour == y.colour) && disjoint(x.partition);
    if (over_x.depth >= over_y.depth) x = over_x.parent;
    if (over_y.depth >= over_x.depth) y = over_y.parent;
  }
  return false;
}

bool RegionForest::meet(const Space& a, const Space& b) const {
  if (statically_disjoint(a, b)) return false;
  return taskspec::meet(root(a), points(a), points(b));
}

std::string RegionForest::text(PartitionId id) const {
  const Partition& partition = (*this)[id];
  const std::int64_t pieces = partition.colours.size();
  return "<partition " + (*this)[partition.parent.root].text() + ", " + std::to_string(pieces) +
         (pieces == 1 ? " piece, " : " pieces, ") + (disjoint(id) ? "disjoint, " : "aliased, ") +
         (complete(id) ? "complete>" : "incomplete>");
}

std::size_t RegionForest::bytes() const {
  constexpr std::size_t index_entry = 64;
  std::size_t bytes = roots_.bytes() + partitions_.bytes();
  for (std::size_t id = 0; id < partitions_.size(); ++id)
    if (partitions_[id].form) bytes += partitions_[id].form->bytes() + index_entry;
  return bytes;
}

}  // namespace taskspec
