// A session: the taskGraph that a program records, and its execution on one backend. A receive forces what
// is pending: the batch is aggregated into chains, planned (once per shape of batch) and run.
//
//   Session session(backend, bodies, {});
//   Array e = session.receive(*tensor, span);
//
// Its parts: what is pending and what runs next (pending.hpp), who still needs what (liveness.hpp), executables
// (plans.hpp), what failed (failures.hpp), what dispatches took (profile.hpp).
//
// A program may run for hours. Two options keep its session in the memory of what it can still name:
// - `window`: with push, about so many pending tasks run without a receive (or fewer, with many bytes of constants). It
//   is cut where the program comes by a place again that it does not pass often, the turn of the outermost loop that
//   fits in: so a loop gives the same batch each time.
// - `forget`: what is settled is given back by sweeps. A task stays while a handle names an output of it, a pending
//   task reads one, or it lies on the way from a failure to a value that it poisoned; a scope while it is open or such
//   a task, or the name of a handle, stands in it; a place while a handle or a pending task names it; a constant while
//   a handle names it or a pending task reads it. A sweep comes when as much has been added as the last one left.
#pragma once
#include <chrono>

#include "interp/control/recorder.hpp"
#include "interp/control/time_steps.hpp"
#include "interp/session/failures.hpp"
#include "interp/session/op_profile.hpp"
#include "interp/session/pending.hpp"
#include "interp/session/poisoned_points.hpp"
#include "interp/session/profile.hpp"

namespace taskspec {

struct SessionOptions {
  Schedule schedule = Schedule::push;
  bool record = false;      // what the dispatches of each chain took, for --profile
  bool timeline = false;    // and each of them by itself, for --trace and --report
  bool record_ops = false;  // what each op took, by its place in the text
  bool detect_nan = false;  // Bodies::detects_nan
  SinkRule sink_rule = SinkRule::task;
  std::size_t window = 0;        // tasks; 0: as many as there are
  bool forget = false;           // give back what is settled: nobody will look at the graph
  bool keeps_constants = false;  // the backend asks for them (BackendRecord)
  std::size_t sweep = 8192;      // at least so many entries between two sweeps
};

class Session final : public Recorder {
 public:
  Session(Backend& backend, Bodies& bodies, SessionOptions options);

  Array receive(const Tensor& tensor, Span place) override;
  Array look(const Tensor& tensor, Span place) override;
  void adding(Span site) override;
  void added(NodeId node, std::span<const Requirement> requirements) override;
  void retain(Ref ref) override { live_.retain(ref, options_.keeps_constants && !open_.empty()); }
  void release(Ref ref) override { pending_.unnamed(live_.release(ref)); }
  void retain(RegionId region) override { live_.retain(region); }
  void release(RegionId region) override { live_.release(region); }
  void want_memory(RegionId region, std::shared_ptr<const PackedPlaces> packed) override {
    live_.field_memory().want(region, std::move(packed));
  }
  void retain(PartitionId partition) override { live_.retain(partition); }
  void release(PartitionId partition) override { live_.release(partition); }
  void run_pending() override;
  bool due() const override { return pending_.is_due() || (held_back && held_back->holds()); }
  bool has_pending() const override { return !pending_.empty(); }
  std::unique_ptr<RepeatedBatch> run_to_repeat(std::size_t launches) override;
  void repeats(DefinitionId task) override { pending_.repeats(task); }
  void opened(ScopeId scope) override { open_.push_back(scope); }
  void closed(ScopeId scope) override;
  std::unique_ptr<Trial> trial() override;
  bool forgets() const override { return options_.forget; }

  // ---- time steps ----
  void hold() { holds_ = true; }  // nothing runs before the steps do, except what is received
  // Runs what was recorded `steps.count` times. What depends on no step and no state runs once.
  std::vector<Array> run_steps(const TimeSteps& steps, Span place);

  void run_prints() override;
  void run_effects() override;
  void carry_out(NodeId node, Span place) override;
  // The first effect that failed and was not told yet, if there is one. A receive that fails tells of those that failed
  // with it.
  NodeId failed_effect() const { return failures_.first_effect(); }
  void raise_failed_effect() { failures_.raise_first_effect(); }  // the others are forgotten
  void raise_failed_print() { failures_.raise_first_print(); }    // the first that failed, told or not
  // End of the program: runs what has effects, reports what failed there, drops the rest.
  void finish();
  // The program goes no further: what has effects and was recorded so far runs, on every schedule; reports as finish.
  // Asked for while what bodies read of the program is still there.
  void end_early();
  void drop_unseen() { needed(); }  // what nobody can name any more
  SessionReport report() const;
  const std::vector<OpRow>& op_rows() const { return op_profile_.rows(); }
  void set_log(ControlLog* log) { log_ = log; }                // of the program that records here; outlives the session
  std::uint64_t run_peak() const { return counts_.run_peak; }  // bytes of the backend while something ran here
  const std::vector<Ref>& received() const { return received_; }  // by the host, when it records; in order
  std::uint64_t executions() const { return counts_.tasks; }      // for tests

 private:
  Array contents(Ref ref, Span place);
  void force(NodeId node, Span place);
  void run_for(NodeId node, Span place);  // and its ancestors
  void run_needed();                      // all that somebody can still see
  void run(std::vector<NodeId> nodes);
  static bool fits(FunctionRef<void()> running);
  std::vector<NodeId> needed();
  friend class StepRun;
  class Repeat;
  using Causes = PoisonedPoints::Causes;
  void run_part(const std::vector<NodeId>& nodes);
  std::uint32_t first_cause(NodeId node);
  void execute(std::vector<NodeId> nodes);
  Plans::Found find_plan(const Batch& batch);
  Outcome run_plan(const Batch& batch, const Plans::Made& plan, std::span<const Location> inputs,
                   std::span<const Poison> dead = {});
  void settled(NodeId node);  // it ran, will never run, or cannot
  void poison(NodeId node, std::uint32_t cause);
  bool writes_fields(NodeId node) const;
  void note_if_effect(NodeId node, std::uint32_t cause);  // that it failed
  void refuse(const Batch& batch, const std::vector<Poison>& refused);
  void count(const Plans::Made& plan, const Outcome& outcome);
  void settle(const Batch& batch, const Plans::Made& plan, std::span<const Location> inputs, Causes met,
              Outcome& outcome);
  void commit(const Batch& batch, std::span<const Location> inputs, const Outcome& outcome, const Causes& failed);
  void lose(const Batch& batch, std::span<const Location> inputs, Outcome& outcome);
  std::map<NodeId, std::uint32_t> causes_by_task(const Batch& batch, const BatchGraph& graph, const Causes& failed,
                                                 const Outcome& outcome) const;
  void note_failed_effects(const Batch& batch, const std::map<NodeId, std::uint32_t>& failed);
  std::vector<Poison> dead_points(const Causes& met) const;
  Failures::Cause cause_of(const Batch& batch, const BatchGraph& graph, const Poison& poison) const;
  void gone(RegionId region);
  void gone(PartitionId partition);
  void sweep_if_due();
  void sweep();
  Staying staying();

  Backend& backend_;
  Bodies& bodies_;
  const SessionOptions options_;
  Liveness live_;
  Pending pending_;
  Plans plans_;
  Failures failures_;
  PoisonedPoints poisoned_;
  Profile profile_;
  OpProfile op_profile_;
  std::vector<ScopeId> open_;  // scopes of calls under way, by depth
  std::vector<Ref> received_;
  std::size_t left_ = 0;  // by the last sweep
  bool holds_ = false;    // what is recorded waits for run_steps
  ControlLog* log_ = nullptr;
  struct Counts {  // as in SessionReport
    std::uint64_t tasks = 0, chains = 0, dispatches = 0, dropped = 0, arena = 0, plan_peak = 0, peak_without_chains = 0,
                  received = 0, run_peak = 0;
  } counts_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace taskspec
