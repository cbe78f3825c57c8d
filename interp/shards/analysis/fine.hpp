// The fine stage: for the own points of an operation, and for no others, which earlier points they depend on, exactly.
//
//   FineStage fine(forest, keys, shards, self);
//   const FineResult& found = fine.analyse(op);       // when the coarse stage's waits are over
//   // found.own: point numbers; found.edges: earlier point -> own point
//
// Users of a lane stand in one symbolic list: an operation that covers all that an older one took ends that one's
// entry.
#pragma once
#include "interp/shards/analysis/edge_plan.hpp"

namespace taskspec {

// A point of an operation: its linear number in the domain.
struct LaunchPoint {
  std::uint64_t op = 0;
  std::int64_t point = 0;
  friend auto operator<=>(const LaunchPoint&, const LaunchPoint&) = default;
};

struct PointEdge {
  LaunchPoint from, to;
  Hazard why{};
  friend auto operator<=>(const PointEdge&, const PointEdge&) = default;
};

struct FineResult {
  std::vector<std::int64_t> own;  // ascending
  std::vector<PointEdge> edges;   // by `to`; each pair once
};

class FineStage {
 public:
  struct Counts {
    std::uint64_t steps = 0;  // own points
    std::uint64_t edges = 0, entries = 0;
  };

  FineStage(const RegionForest& forest, KeyTable& keys, std::size_t shards, ShardId self)
      : forest_(forest), keys_(keys), plans_(forest, keys, shards, self) {}

  const FineResult& analyse(const Operation& op);  // valid until the next one

  const Counts& counts() const { return counts_; }
  const EdgePlans& plans() const { return plans_; }
  std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t op;
    KeyId key;
    Privilege privilege;
    ReduceOp reduce;
  };
  using Lane = std::vector<Entry>;
  Lane& lane(RegionId root, std::uint32_t field);
  void find_edges(const Operation& op, const LaunchUse& use, KeyId key, const Lane& lane);
  bool covers(KeyId later, KeyId earlier) const;

  const RegionForest& forest_;
  KeyTable& keys_;
  EdgePlans plans_;
  std::vector<std::vector<Lane>> lanes_;  // by region, by field
  FineResult result_;
  Counts counts_;
};

}  // namespace taskspec
