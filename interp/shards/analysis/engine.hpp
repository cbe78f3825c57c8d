// The analysis of one shard, a pipeline beside its program: operations go in as they are called, and come out with the
// exact dependences of their own points, as soon as the fences before them are complete. What happens to them then is
// the executor's.
//
//   AnalysisEngine engine(forest, collectives, executor);
//   engine.issue(op);                       // in program order
//   while (!engine.is_idle()) engine.turn();
//
// A fence arrives here when the operations that it stands for have been through the fine stage here, and the fences
// that it replaced have arrived; it is complete when it has arrived everywhere. It holds back who waits for it and
// nobody else.
#pragma once
#include <deque>
#include <unordered_map>

#include "interp/shards/analysis/coarse.hpp"
#include "interp/shards/analysis/fine.hpp"
#include "interp/shards/collectives/collectives.hpp"

namespace taskspec {

// Given from outside: runs points, or only looks at them.
class Executor {
 public:
  virtual ~Executor() = default;
  // `time` is Lamport's: later than that of every operation that this one was ordered behind by a fence.
  virtual void found(const Operation& op, const FineResult& result, std::uint64_t time) = 0;
};

class AnalysisEngine {
 public:
  struct Options {
    CoarseStage::Elides elides = CoarseStage::elides;
    std::size_t coarse_in_a_turn = 16;
    // Looks at what the coarse stage found before it counts: tests that plant faults.
    std::function<void(const Operation&, CoarseResult&)> found{};
  };
  AnalysisEngine(const RegionForest& forest, Collectives& collectives, Executor& executor)
      : AnalysisEngine(forest, collectives, executor, Options()) {}
  AnalysisEngine(const RegionForest& forest, Collectives& collectives, Executor& executor, Options options);
  ~AnalysisEngine();

  void issue(Operation op);
  // Messages, some operations of the coarse stage, all that is ready of the fine stage, fences. True: something was
  // done.
  bool turn();

  std::size_t in_flight() const { return issued_.size() + ops_.size(); }
  bool is_idle() const { return issued_.empty() && ops_.empty() && fences_.empty(); }
  const CoarseStage& coarse() const { return coarse_; }
  const FineStage& fine() const { return fine_; }
  const KeyTable& keys() const { return keys_; }
  std::size_t bytes() const;

 private:
  struct Op;
  struct Fence;
  void admit(Operation op);
  void run_fine(std::uint64_t number);
  void arrive(std::uint64_t number);
  void complete(std::uint64_t number);
  void less_for_op(std::uint64_t number);
  void less_for_fence(std::uint64_t number);

  Collectives& collectives_;
  Executor& executor_;
  const Options options_;
  KeyTable keys_;
  CoarseStage coarse_;
  FineStage fine_;
  std::deque<Operation> issued_;
  // Those that are not through; a number that is not here has passed.
  std::unordered_map<std::uint64_t, std::unique_ptr<Op>> ops_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Fence>> fences_;
  std::deque<std::uint64_t> ready_ops_, ready_fences_;
};

}  // namespace taskspec
