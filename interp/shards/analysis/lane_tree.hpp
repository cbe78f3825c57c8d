// The users of one field of one region tree that a later operation may have to wait for, as the coarse stage sees them:
// each at the region, partition or piece that bounds what it takes. No list here grows with the size of a launch.
//
//   LaneTree lane(forest, cells);
//   lane.add(lane.place(use), {.op = 3, .key = key, .privilege = Privilege::inout});
//   lane.each_that_may_meet(place, [&](LaneTree::Place at, Entry& entry) { ... });
#pragma once
#include <map>
#include <vector>

#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

// One field of one region tree.
struct LaneKey {
  RegionId root;
  std::uint32_t field = 0;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};

class LaneTree {
 public:
  struct Entry {
    std::uint64_t op = 0;  // or the number of the operation whose fence it is
    KeyId key;
    Privilege privilege = Privilege::in;
    ReduceOp reduce = ReduceOp::sum;
    bool is_fence = false;
  };
  using Place = std::uint32_t;  // a region, a piece or a partition

  LaneTree(const RegionForest& forest, RegionId root);

  Place place(const LaunchUse& use) { return use.partition.valid() ? place(use.partition) : place(use.space); }
  Place place(const Space& space);
  Place place(PartitionId partition);
  const Space& bound(Place place) const { return places_[place].bound; }
  // Of the region or piece that holds all that is taken at the place.
  Place bounding(Place place) const { return places_[place].partition.valid() ? places_[place].parent : place; }

  void add(Place place, const Entry& entry);
  std::vector<Entry>& at(Place place) { return places_[place].entries; }
  // All entries that are not known by the tree alone to be apart from that place.
  void each_that_may_meet(Place place, FunctionRef<void(Place, Entry&)> visit);
  void each(FunctionRef<void(Place, const Entry&)> visit) const;
  void clear();
  // Removes those at the place and below it for which `take` says so.
  void remove_under(Place place, FunctionRef<bool(const Entry&)> take);

  // Some entry stands at the partition, or below it.
  bool has_entries(PartitionId partition) const;
  bool is_under(Place place, PartitionId partition) const;
  // It has gone, and with it all partitions of its pieces; no entry stands there. Places are given again.
  void forget(PartitionId partition);

  std::size_t entries() const { return places_[0].below + places_[0].entries.size(); }
  std::uint64_t touched() const { return touched_; }  // entries looked at so far
  std::size_t bytes() const;

 private:
  static constexpr Place none = UINT32_MAX;
  struct Node {
    Space bound;  // a region or piece itself; of a partition: what it is of
    PartitionId partition;
    Place parent = none;
    std::size_t below = 0;  // entries strictly below it
    std::vector<Entry> entries{};
    std::vector<Place> children{};
    std::map<std::int64_t, Place> pieces{};  // of a partition, by colour
  };
  Place add_node(Node node);
  void count(Place place, std::ptrdiff_t change);
  void visit(Place at, Place of, FunctionRef<void(Place, Entry&)> visit);

  const RegionForest& forest_;
  std::vector<Node> places_;
  std::vector<Place> partitions_;  // by id; none
  std::vector<Place> free_;
  std::uint64_t touched_ = 0;
};

}  // namespace taskspec
