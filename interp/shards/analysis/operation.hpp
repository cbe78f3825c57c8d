// One operation of a program as the analysis sees it: a launch, or something that counts as a launch of one point. The
// normal form of each use is its key: equal keys take equal pieces at equal points on equal shards.
//
//   {.number = 17, .domain = Rect::of({4}), .sharding = PointSharding::cyclic(), .uses = {...}}
#pragma once
#include <unordered_map>
#include <vector>

#include "interp/shards/analysis/sharding.hpp"
#include "interp/shards/control/call.hpp"
#include "ir/region/independence.hpp"

namespace taskspec {

struct Operation {
  std::uint64_t number = 0;  // of the call: ascending
  CallKind kind = CallKind::launch;
  Rect domain = Rect::of({1});
  PointSharding sharding{};
  std::vector<LaunchUse> uses{};
  // Launches, calls, fills and files; partition operators and receives are counted apart.
  bool is_counted = true;
  // A receive of a region: each shard reads the elements that it holds.
  bool by_owners = false;
  // What the caller tells calls apart by beside the above: the task, the futures it takes relative to this call.
  // Scalars are not in it: they are parameters of a trace.
  std::uint64_t what = 0;
};

struct KeyTag;
using KeyId = Id<KeyTag>;

struct UseKey {
  Rect domain;
  PointSharding sharding{};
  LaunchUse use;  // its space or partition, and its projection
  bool by_owners = false;
  std::uint64_t hash = 0;

  bool is_alike(const UseKey& other) const;
  bool is_of(const Operation& op, const LaunchUse& of) const;
};

// Of the normal form of a use; the number of the operation does not count.
std::uint64_t hash_of(const Operation& op, const LaunchUse& use);

// Kept once each; a key seen before takes no memory.
class KeyTable {
 public:
  KeyTable() { keys_.reserve(64); }
  KeyId of(const Operation& op, const LaunchUse& use);
  const UseKey& operator[](KeyId id) const { return keys_[id.index()]; }
  std::size_t size() const { return keys_.size(); }
  // Of what has gone. Their ids are given again: nobody may have kept them.
  void forget(FunctionRef<bool(const UseKey&)> is_gone, FunctionRef<void(KeyId)> gone = {});

 private:
  std::vector<UseKey> keys_;
  std::vector<KeyId> free_;
  std::unordered_multimap<std::uint64_t, KeyId> by_hash_;
};

// One of a piece of that partition, or of all of them.
inline bool names(const UseKey& key, PartitionId partition) {
  return key.use.partition == partition || key.use.space.partition == partition;
}

// The smallest region or piece that holds all that the use takes.
inline Space bound(const RegionForest& forest, const LaunchUse& use) {
  return use.partition.valid() ? forest[use.partition].parent : use.space;
}

// All points of the bound are taken, by one point or another.
bool covers_bound(const RegionForest& forest, const UseKey& key);
// A later use of the same key meets, at each point, what the earlier one took at that very point, and nothing else.
bool is_point_by_point(const RegionForest& forest, const UseKey& key);

}  // namespace taskspec
