// The coarse stage: for every operation, on every shard alike, what it must wait for, by upper bounds. It never looks
// at the points of a launch, so it costs the same for four points and for four million.
//
//   CoarseStage coarse(forest, keys);
//   const CoarseResult found = coarse.analyse(op);
//   // found.local: operations whose fine stage on this shard comes first; found.fences: fences that must be complete
//
// A dependence is local, and needs no word between shards, where both sides have one key, its partition is disjoint and
// its projection injective: then a point depends only on points of its own shard. Else the operation has a fence over
// the smallest region that holds both sides, in the fields concerned; it takes the place of all users there.
#pragma once
#include <memory>

#include "interp/shards/analysis/lane_tree.hpp"

namespace taskspec {

struct CoarseResult {
  std::vector<std::uint64_t> local;   // operations
  std::vector<std::uint64_t> fences;  // by the operation that they came with, its own one too
  bool has_fence = false;
  std::vector<std::uint64_t> arrives_after;         // operations whose fine stage on this shard its fence stands for
  std::vector<std::uint64_t> arrives_after_fences;  // that must have arrived here
};

class CoarseStage {
 public:
  struct Counts {
    std::uint64_t steps = 0;    // operations
    std::uint64_t touched = 0;  // entries of lists
    std::uint64_t fences = 0, elided = 0, other_fences = 0, forced = 0, collectives = 0;
    std::uint64_t elided_more = 0;  // by what is proved beside the rule: `elided` is without these
  };
  // Whether a dependence is local: by the rule above, and, where somebody wants it, by what else can be proved.
  using Elides = std::function<bool(const RegionForest&, const UseKey& earlier, const UseKey& later)>;
  static bool elides(const RegionForest& forest, const UseKey& earlier, const UseKey& later);

  CoarseStage(const RegionForest& forest, KeyTable& keys, Elides elides = CoarseStage::elides, Elides more = {});
  ~CoarseStage();

  // Operations come in program order.
  CoarseResult analyse(const Operation& op);

  // For traces: what is in a lane's lists; something else in their place, with a fence before all of it; what
  // replayed operations would have been counted for.
  void each_entry(LaneKey lane, FunctionRef<void(LaneTree::Place, const LaneTree::Entry&)> visit);
  void replace(LaneKey lane, std::span<const std::pair<LaneTree::Place, LaneTree::Entry>> entries, std::uint64_t fence);
  void count_replayed(std::uint64_t fences, std::uint64_t elided, std::uint64_t elided_more);
  void count_exit_fence();

  const Counts& counts() const { return counts_; }
  // What has gone. Of a partition: no entry names it.
  void forget(RegionId root);
  void forget(RegionId root, PartitionId partition);
  bool names(RegionId root, PartitionId partition) const;
  // The tree that a place is of.
  const LaneTree* tree(LaneKey lane) const;
  // In place of all users of a region there is a fence from now on.
  void force(RegionId root, std::uint64_t fence);

  std::size_t bytes() const;

  static constexpr std::size_t longest_list = 256;  // at one place; then a fence takes its place

 private:
  struct Lane;
  struct Found;
  Lane& lane(RegionId root, std::uint32_t field);
  // A use of the present operation in one lane.
  struct Touch {
    const LaunchUse* use;
    KeyId key;
    Lane* lane;
    LaneTree::Place place;
  };
  void collect(const Operation& op, const Touch& touch, CoarseResult& result);
  void enter_fence(std::uint64_t op, Lane& lane, CoarseResult& result);
  void prune(const Touch& touch, CoarseResult& result);
  void enter(const Operation& op, const Touch& touch, CoarseResult& result);
  void count(const Operation& op, const CoarseResult& result);

  const RegionForest& forest_;
  KeyTable& keys_;
  const Elides elides_, more_;
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes_;  // by region, by field
  std::vector<Touch> touches_;                             // of the present operation
  std::vector<Lane*> work_;
  Counts counts_;
};

}  // namespace taskspec
