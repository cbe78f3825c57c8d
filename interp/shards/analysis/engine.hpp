// The analysis of one shard, a pipeline beside its program: operations go in as they are called, and come out with the
// exact dependences of their own points, as soon as the fences before them are complete. What happens to them then is
// the executor's.
//
//   AnalysisEngine engine(forest, collectives, executor);
//   engine.issue(op);                       // in program order
//   while (!engine.is_idle()) engine.turn();
//
// Sequences of calls that repeat themselves are traces: recorded once, and replayed without any of this (see
// interp/shards/traces/tracer.hpp). A replayed operation goes to the executor as soon as those before it on its lanes
// have, and its fences are not issued, only counted.
//
//   engine.begin_trace(place); engine.issue(op); engine.call(token); engine.end_trace(place);
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
#include "interp/shards/traces/tracer.hpp"
#include "ir/base/allocations.hpp"

namespace taskspec {

// Given from outside: runs points, or only looks at them.
class Executor {
 public:
  virtual ~Executor() = default;
  // `time` is Lamport's: later than that of every operation that this one was ordered behind by a fence.
  virtual void found(const Operation& op, const FineResult& result, std::uint64_t time) = 0;
  // A call of a trace, without analysis; the spans are there for the time of this call.
  virtual void replayed(const Operation&, const TemplateCall&) {}
  virtual bool wants_replayed() const { return true; }
};

class AnalysisEngine final : private TraceHost {
 public:
  struct Options {
    CoarseStage::Elides elides = CoarseStage::elides, more{};
    std::size_t coarse_in_a_turn = 16;
    bool traces = true;     // those that the program gives
    bool automatic = true;  // and those that are found
    // Asked when an operation is issued, or a trace begun: before the data of that operation is decided.
    Tracer::DataSignature data_signature{};
    // Looks at signatures before they are compared: tests that plant faults.
    std::function<void(TraceSignature&)> blur{};
    std::function<void(const FailedGuard&)> failed_guard{};
    // What messages of a fence say of the call that wants it; none: its number and kind alone.
    std::function<CallStamp(std::uint64_t call)> stamp{};
    // Looks at what the coarse stage found before it counts: tests that plant faults.
    std::function<void(const Operation&, CoarseResult&)> found{};
  };
  AnalysisEngine(const RegionForest& forest, Collectives& collectives, Executor& executor)
      : AnalysisEngine(forest, collectives, executor, Options()) {}
  AnalysisEngine(const RegionForest& forest, Collectives& collectives, Executor& executor, Options options);
  ~AnalysisEngine() override;

  void issue(Operation op);
  // One that is issued again and again, with its number of this time; its token_of is known.
  void issue_again(const std::shared_ptr<Operation>& op, std::uint64_t token);
  // Where a replay stands, and calls that led back to there once more: see Tracer::place. None: also where the executor
  // wants to hear of each of them, or some wait.
  std::optional<Tracer::Place> replay_place() const;
  void replay_again(std::uint64_t first, std::size_t calls) { tracer_.replay_again(first, calls); }
  // A call that is no operation, or whose operations are issued by themselves: a receive, say.
  void call(std::uint64_t token);
  void begin_trace(std::uint64_t id);  // by its place in the source
  void end_trace(std::uint64_t id);
  // Messages, some operations of the coarse stage, all that is ready of the fine stage, fences. True: something was
  // done.
  bool turn();

  // Data that no later operation names: first, at a call that all shards have alike, for the traces; then, when the
  // engine is idle, for all else. A partition that lists still name stays; `force` puts a fence in place of all users
  // of its region, with that number.
  void untrace(RegionId root);
  void untrace(PartitionId partition);
  void forget(RegionId root);
  bool forget(PartitionId partition);
  void force(RegionId root, std::uint64_t number);

  std::size_t in_flight() const { return issued_.size() + ops_.size(); }
  bool is_idle() const { return issued_.empty() && ops_.empty() && fences_.empty(); }
  const CoarseStage& coarse() const { return coarse_; }
  const FineStage& fine() const { return fine_; }
  const Tracer::Counts& traces() const { return tracer_.counts(); }
  const std::string& why_trace() const { return tracer_.why(); }  // the last guard failed
  const KeyTable& keys() const { return keys_; }
  std::size_t bytes() const;
  const Allocations& allocations() const { return meter_.sum(); }  // without those of the executor

 private:
  struct Op;
  struct Fence;
  struct Issued {
    Operation op;
    TemplatePtr record;
    std::uint32_t call = 0;
    bool was_replayed = false;
  };
  void admit(Issued issued);
  void wait(Op& op, const CoarseResult& found);
  void enter_fence(const Operation& op, const CoarseResult& found);
  void forget_keys(FunctionRef<bool(const UseKey&)> is_gone);

  void analyse(Operation op, const TemplatePtr& record, std::uint32_t call, bool was_replayed) override;
  void settle() override;
  LaneState state(LaneKey lane) override;
  void begin_replay(const TraceTemplate& of) override;
  void replay(Operation& op, const TemplatePtr& of, std::uint32_t call, std::span<const std::uint64_t> window) override;
  void executed() override;
  void replayed_again(const TraceTemplate& of, std::size_t executions) override;
  void take_back(const TraceTemplate& of, std::size_t calls) override;
  void leave(const TraceTemplate& of, std::span<const std::uint64_t> numbers,
             std::span<const std::vector<OperationRun>> piles) override;

  void run_fine(std::uint64_t number);
  void dispatch(const Operation& op, TraceTemplate& of, std::uint32_t call, std::span<const std::uint64_t> window);
  void arrive(std::uint64_t number);
  void complete(std::uint64_t number);
  void less_for_op(std::uint64_t number);
  void less_for_fence(std::uint64_t number);

  const RegionForest& forest_;
  Collectives& collectives_;
  Executor& executor_;
  const Options options_;
  KeyTable keys_;
  CoarseStage coarse_;
  FineStage fine_;
  Tracer tracer_;
  std::deque<Issued> issued_;
  // Those that are not through; a number that is not here has passed.
  std::unordered_map<std::uint64_t, std::unique_ptr<Op>> ops_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Fence>> fences_;
  std::deque<std::uint64_t> ready_ops_, ready_fences_;
  // Of the trace that is replayed, by lane: operations that must have been through before; fences that stood in lists.
  std::vector<std::vector<std::uint64_t>> blockers_;
  std::vector<std::uint64_t> fences_before_;
  std::vector<std::uint64_t> executed_;  // the last ones of complete executions that wait for their turn
  bool is_blocked_ = false;
  AllocationMeter meter_;
};

}  // namespace taskspec
