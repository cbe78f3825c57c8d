// What moves, found from own points alone: what they need is looked for in the lane's stack, newest first; and for what
// is at home here the readers are asked, by the forms of their partitions. Nobody else's points are listed but those
// that have something to do with own ones.
//
//   OwnPlans plans(forest, root, shards, self, points_of_key);
//   const Movement moved = plans.read(stack, key);
#pragma once
#include <span>

#include "interp/shards/data/key_points.hpp"
#include "interp/shards/data/lane_stack.hpp"
#include "interp/shards/data/movement.hpp"

namespace taskspec {

class OwnPlans {
 public:
  using Stack = std::span<const LaneStep* const>;  // newest first
  using PointsOf = std::function<const KeyPoints&(KeyId)>;
  using Homes = std::vector<IndexSpace>;  // each of few runs, close together

  OwnPlans(const RegionForest& forest, RegionId root, std::size_t shards, ShardId self, PointsOf points)
      : forest_(forest),
        root_(forest[root].extents),
        elements_(root_.size()),
        shards_(shards),
        self_(self),
        points_(std::move(points)) {}

  // The elements whose home is this shard.
  Homes own_homes(Stack stack) const;

  // `homes` are those of the stack; of `reduce`: those of the stack with the contributions on top of it.
  Movement read(Stack stack, const Homes& homes, KeyId key) const;
  Movement gather(Stack stack, const Homes& homes, const Space& space) const;
  Movement collect(Stack stack, const Homes& homes, const Space& space, ShardId to) const;
  FoldMovement reduce(Stack stack, const Homes& homes, KeyId key) const;
  // What this shard answers for, once each: what is at home here, and of what is everywhere its block share.
  Intervals answers_for(Stack stack, const Homes& homes, const Space& space) const;
  Movement fills(Stack stack, const Space& space) const;  // what it fills in of that

 private:
  using Emit = FunctionRef<void(const IndexSpace& part, ShardId home)>;
  using EmitFill = FunctionRef<void(const IndexSpace& part, std::uint32_t number)>;
  void lacks(Stack stack, ShardId shard, IndexSpace set, Emit emit, EmitFill fill) const;
  void lacks(Stack stack, ShardId shard, IndexSpace set, Emit emit) const {
    lacks(stack, shard, std::move(set), emit, [](const IndexSpace&, std::uint32_t) {});
  }
  void find_homes(Stack stack, IndexSpace set, Emit emit) const;
  void add_written(Stack newer, const LaneStep& step, Homes& into) const;
  void add_shares(Stack newer, const LaneStep& step, Stack older, Homes& into) const;
  IndexSpace without_written(Stack steps, IndexSpace set) const;
  IndexSpace free_below(Stack stack, IndexSpace set) const;
  void cut_by_shares(const IndexSpace& set, Emit emit) const;
  IndexSpace points_of(const Intervals& runs) const { return {root_, runs}; }

  const RegionForest& forest_;
  const Rect root_;
  const std::int64_t elements_;
  const std::size_t shards_;
  const ShardId self_;
  const PointsOf points_;
};

}  // namespace taskspec
