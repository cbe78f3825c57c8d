// Who has the contents of which elements, and what must move before somebody reads them: decided when an operation is
// recorded, from what is the same on every shard, so that nobody need be asked.
//
//   DataState data(forest, keys, 4, ShardId(1));
//   data.write({cells, 0}, own_key);                       // `inout owned`: its points have written
//   const auto moved = data.read({cells, 0}, ghost_key);   // `in ghost`: what this shard sends and receives before it
//
// A lane starts as zero on every shard. An element has a home: the shard that wrote it last; or it is everywhere, with
// equal contents. What a fill has set, each shard fills in where it needs it: no shard writes a whole region. What a
// shard has fetched it keeps until somebody writes there. An operation that finds a lane as an equal one found it
// before gets what that one got, in O(1). Partitions that operations name are held as long as their region lives: by
// their pieces it is known who has what.
#pragma once
#include <memory>

#include "interp/shards/analysis/lane_tree.hpp"
#include "interp/shards/data/lane_stack.hpp"
#include "interp/shards/data/movement.hpp"
#include "interp/shards/data/total_share.hpp"
#include "ir/base/allocations.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

class DataState {
 public:
  // How movements are made: from own points alone, or from lists of everything, which is the judge of the former.
  enum class Plans : std::uint8_t { own, all };
  // What a home gets of another shard: contributions of each of its points, or one for all of them (fold_by_shard).
  enum class Folds : std::uint8_t { points, shard };
  struct Counts {
    std::uint64_t made = 0, reused = 0;  // decisions
    std::uint64_t touched = 0;           // points and pieces looked at
  };

  DataState(RegionForest& forest, const KeyTable& keys, std::size_t shards, ShardId self, Plans plans = Plans::own,
            Folds folds = Folds::points);
  ~DataState();

  // What moves before the points of `key` read (in, inout). Null: nothing, here.
  std::shared_ptr<const Movement> read(LaneKey lane, KeyId key);
  // Its points have written (out, inout): they are the homes now.
  void write(LaneKey lane, KeyId key);
  // Every shard has written all points of `space` itself, with the same values.
  void everywhere(LaneKey lane, const Space& space);
  // All points of `space` have the same contents, for the caller to know by: `contents` of the lane gives them by the
  // number that movements have of the fill, until the next fill.
  void fill(LaneKey lane, const Space& space, Value contents);
  const Value& contents(LaneKey lane, std::uint32_t number);
  std::shared_ptr<const Movement> gather(LaneKey lane, const Space& space);               // every shard gets all points
  std::shared_ptr<const Movement> collect(LaneKey lane, const Space& space, ShardId to);  // one shard does
  // Every shard gets the total of all points: what this one adds to it.
  std::shared_ptr<const TotalShare> total(LaneKey lane, const Space& space);
  // Which of its points this shard looks at where each is looked at once.
  Intervals answers_for(LaneKey lane, const Space& space);
  // What it fills in of these first: before a total, or contributions. Null: nothing.
  std::shared_ptr<const Movement> fills(LaneKey lane, const Space& space);
  // Its points have contributed: what goes to the homes, which apply it and afterwards alone have those points. What
  // was everywhere goes to the shard whose share of the root's index it is in.
  std::shared_ptr<const FoldMovement> reduce(LaneKey lane, KeyId key);
  // A lane as later steps find it: equal numbers, equal answers to all of them; numbers are the same on every shard. To
  // be compared with, and set to, what a repeated sequence of steps began and ended with.
  std::uint32_t state(LaneKey lane);
  void set_state(LaneKey lane, std::uint32_t state);
  // Before a region goes, or when it has gone; where nobody says so, it is seen by the serial.
  void forget(RegionId root);
  // What is known by the pieces of that partition is known without them from now on.
  void forget(PartitionId partition);
  bool names(PartitionId partition) const;           // a lane is known by its pieces
  std::uint32_t holds(PartitionId partition) const;  // until it is forgotten: how often

  // A stack of more steps becomes a table.
  static constexpr std::size_t deepest_stack = 32;

  const Counts& counts() const { return counts_; }
  const Allocations& allocations() const { return meter_.sum(); }
  std::size_t bytes() const;

 private:
  struct Tree;
  struct Decision;
  Tree& tree(RegionId root);
  std::uint32_t& state_of(LaneKey lane);
  const Decision& decide(LaneKey lane, const LaneStep& step);
  Decision made(Tree& tree, std::uint32_t state, const LaneStep& step);
  Intervals answers_for(Tree& tree, std::uint32_t state, const LaneStep& step);

  RegionForest& forest_;
  const KeyTable& keys_;
  const std::size_t shards_;
  const ShardId self_;
  const Plans plans_;
  const Folds folds_;
  std::vector<std::unique_ptr<Tree>> trees_;  // by root region
  Counts counts_;
  AllocationMeter meter_;
};

}  // namespace taskspec
