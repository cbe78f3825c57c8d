// What moves, from lists of all pieces of all shards: the judge of OwnPlans, and how a stack of steps becomes one table
// when it grows too deep or a partition goes that it names.
#pragma once
#include <span>

#include "interp/shards/data/lane_stack.hpp"
#include "interp/shards/data/movement.hpp"

namespace taskspec {

class TablePlans {
 public:
  TablePlans(const RegionForest& forest, const KeyTable& keys, RegionId root, std::size_t shards, ShardId self)
      : forest_(forest), keys_(keys), root_(root), shards_(shards), self_(self) {}

  // What the step moves, by what it finds; the table is then as it is after it.
  Movement move(HomeTable& table, const LaneStep& step);                // read, gather, collect
  FoldMovement fold(HomeTable& table, const LaneStep& step);            // reduce
  Intervals answers_for(const HomeTable& table, const LaneStep& step);  // total
  Movement fills(const HomeTable& table, const LaneStep& step);         // answer
  void apply(HomeTable& table, const LaneStep& step);                   // any, whatever it moves
  HomeTable first() const { return {forest_[root_].extents.size(), shards_}; }
  void forget() { pieces_.clear(); }
  std::size_t bytes() const;

 private:
  // What the points of a key take.
  struct Pieces {
    std::vector<Intervals> by_shard;
    struct OfPoint {
      std::size_t shard;
      Intervals runs;
    };
    std::vector<OfPoint> points;
  };
  const Pieces& pieces(KeyId key);
  std::vector<Intervals> needs(const LaneStep& step);
  Intervals points(const LaneStep& step) const {
    return forest_.points(step.space).as_intervals(forest_.root(step.space));
  }

  const RegionForest& forest_;
  const KeyTable& keys_;
  const RegionId root_;
  const std::size_t shards_;
  const ShardId self_;
  std::unordered_map<std::uint32_t, Pieces> pieces_;  // by key
};

}  // namespace taskspec
