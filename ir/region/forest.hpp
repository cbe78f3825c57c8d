// Regions and their partitions: trees in which a partition stands below the region or piece that it is of, and pieces
// below their partition. A piece is made when somebody asks for it.
//
//   RegionForest forest;
//   RegionId cells = forest.add({"Cell", "cells", Rect::of({64}), {{"state", Precision::f64}}});
//   PartitionId owned = blocks(forest, {cells}, Point::of(4));       // ir/region/operators.hpp
//   forest.points(piece(forest, owned, 2))                            // 32..48
//   forest[owned].colours.size()                                      // 4
//
// A partition is found again where the same operator is asked for the same pieces of the same region. Regions and
// partitions go when they are told to; their ids are given again, their serials never.
//
// Asked by one thread at a time: answers that take time are kept.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/base/hash.hpp"
#include "ir/base/ids.hpp"
#include "ir/base/slot_table.hpp"
#include "ir/base/source.hpp"
#include "ir/region/space.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

struct RegionTag;
struct PartitionTag;
using RegionId = Id<RegionTag>;
using PartitionId = Id<PartitionTag>;

struct RegionField {
  std::string name;
  Precision precision = Precision::f64;
};

struct Region {
  std::string fields_name;  // of the `fields` declaration
  std::string name;         // as it is called in messages
  Rect extents;
  std::vector<RegionField> fields;
  Span made = {};            // where in a text, for messages
  std::string text() const;  // "Cell[64]"
};

// What holds points: a whole region where there is no partition, else the piece of that colour.
struct Space {
  RegionId root;
  PartitionId partition = {};
  Point colour = Point::none();
  friend bool operator==(const Space&, const Space&) = default;
};

class RegionForest;
class PieceForm;     // ir/region/piece_form.hpp: how the points of a piece are found
class PieceSharing;  // ir/region/piece_sharing.hpp

enum class Claim : std::uint8_t { disjoint, complete };

// Two pieces have `point` in common, or, of a partition that is not complete, no piece has it.
struct Shared {
  Point point, first, second;
};

struct Partition {
  Space parent;
  Rect colours;
  std::shared_ptr<const PieceForm> form;
  Span made = {};           // where in a text it was asked for first, for messages
  std::uint32_t depth = 0;  // partitions above it
  enum class Known : std::uint8_t { unknown, no, yes };
  mutable Known is_disjoint = Known::unknown, is_complete = Known::unknown;
  Hash128 content = {};       // equal: the same pieces of roots of the same extents
  std::uint64_t serial = 0;   // of all partitions there ever were in the forest
  std::uint32_t holders = 0;  // handles, tasks, and partitions that are made of it
  bool counted = false;       // a handle named it: it goes with its last holder, and not only with its region
  PartitionId next = {};      // of those that are about to go
};

class RegionForest {
 public:
  // Throws Error: extents below 0, a rank above 4 or none (E1003); more than 2^62 points (E5008).
  RegionId add(Region region, Span span = {});
  // The one that is there, where it has the same parent, colours and form.
  PartitionId add(const Space& parent, const Rect& colours, std::shared_ptr<const PieceForm> form, Span span = {});

  // A region that nobody names any more, with all its partitions. These two take no memory.
  void remove(RegionId id);
  // A holder has gone. Tells which partitions go with it, while they are still there.
  void release(PartitionId id, FunctionRef<void(PartitionId)> gone);
  void hold(PartitionId id) { ++partitions_[id.index()].holders; }
  void retain(PartitionId id) {  // by a handle
    hold(id);
    partitions_[id.index()].counted = true;
  }
  // Regions and partitions that there ever were: what is made next has this serial.
  std::uint64_t regions_made() const { return roots_.made(); }
  std::uint64_t partitions_made() const { return partitions_.made(); }
  std::uint64_t serial(RegionId id) const { return roots_[id.index()].serial; }

  const Region& operator[](RegionId id) const { return roots_[id.index()].region; }
  const Partition& operator[](PartitionId id) const { return partitions_[id.index()]; }
  const Rect& root(PartitionId id) const { return (*this)[(*this)[id].parent.root].extents; }
  const Rect& root(const Space& space) const { return (*this)[space.root].extents; }
  std::size_t regions() const { return roots_.size(); }  // ids so far, those that are free included
  std::size_t partitions() const { return partitions_.size(); }

  IndexSpace points(const Space& space) const;
  // p[colour]; throws Error E5003, or E1003 where the rank differs.
  Space piece(PartitionId id, const Point& colour, Span span = {}) const;

  // Found on the first ask, in O(runs log) where no form knows better; a claim stands for it.
  bool disjoint(PartitionId id) const;
  bool complete(PartitionId id) const;
  // The first point that shows the contrary; none where it is so.
  std::optional<Shared> shared_point(PartitionId id) const;
  std::optional<Point> missing_point(PartitionId id) const;
  // assume(p, "disjoint"). Where `check` is set and it is not so, throws Error E3102 with the point and the colours.
  void claim(PartitionId id, Claim claim, bool check, Span span = {});

  // Have no point in common, as far as the trees tell: of two regions, or below different colours of one disjoint
  // partition. O(depth).
  bool statically_disjoint(const Space& a, const Space& b) const;
  bool meet(const Space& a, const Space& b) const;              // exactly, by points
  Space common_ancestor(const Space& a, const Space& b) const;  // the smallest that holds both; of one root

  // "<partition Cell[64], 4 pieces, disjoint, complete>"
  std::string text(PartitionId id) const;
  // Bytes of all that is kept, for tests and reports.
  std::size_t bytes() const;

  // Tables of pieces that are made from here on are shared out; none: they are kept whole.
  void share(std::shared_ptr<PieceSharing> sharing) { sharing_ = std::move(sharing); }
  const std::shared_ptr<PieceSharing>& sharing() const { return sharing_; }

 private:
  const Partition* above(const Space& space) const;
  struct Root {
    Region region;
    std::map<Hash128, PartitionId> partitions;  // by content
    std::uint64_t serial = 0;                   // of all regions there ever were in the forest
  };
  SlotTable<Root> roots_;
  SlotTable<Partition> partitions_;
  std::shared_ptr<PieceSharing> sharing_;
};

inline Space piece(const RegionForest& forest, PartitionId id, std::int64_t colour) {
  return {forest[id].parent.root, id, Point::of(colour)};
}

}  // namespace taskspec
