// The fine stage: for the own points of an operation, and for no others, which earlier points they depend on, exactly.
//
//   FineStage fine(forest, keys, shards, self);
//   FineStage::Task task = fine.enter(op);            // in program order: whom it must be held against
//   const FineResult& found = fine.analyse(op, task); // when the coarse stage's waits are over
//   // found.own: point numbers; found.edges: earlier point -> own point
#pragma once
#include "interp/shards/analysis/edge_plan.hpp"
#include "interp/shards/analysis/exact_lists.hpp"

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
  // The executor has heard of its points already, as of a call of a trace that was left before its end.
  bool is_dispatched = false;
};

class FineStage {
 public:
  struct Counts {
    std::uint64_t steps = 0;  // own points
    std::uint64_t edges = 0, entries = 0;
  };
  using Task = ExactLists::Found;

  FineStage(const RegionForest& forest, KeyTable& keys, std::size_t shards, ShardId self)
      : forest_(forest), keys_(keys), lists_(forest, keys), plans_(forest, keys, shards, self) {}

  Task enter(const Operation& op) { return lists_.enter(op); }
  FineResult& analyse(const Operation& op, const Task& task);  // valid until the next one
  const FineResult& analyse(const Operation& op) { return analyse(op, enter(op)); }

  Counts counts() const { return {steps_, edges_, lists_.entries()}; }
  const EdgePlans& plans() const { return plans_; }
  ExactLists& lists() { return lists_; }
  const ExactLists& lists() const { return lists_; }
  void forget(std::span<const KeyId> gone) { lists_.forget(gone), plans_.forget(gone); }  // ascending
  std::size_t bytes() const;

 private:
  void find_edges(const Operation& op, const Task& task);
  void find_owners(const Operation& op, const Task& task);
  void put_in_order(std::size_t begin);

  const RegionForest& forest_;
  KeyTable& keys_;
  ExactLists lists_;
  EdgePlans plans_;
  FineResult result_;
  std::vector<const EdgePlan*> met_;  // by source of the present operation
  std::uint64_t steps_ = 0, edges_ = 0;
};

}  // namespace taskspec
