// Runs single steps of an executable on a lane: the same for every schedule. The usual way looks at one
// flag and calls the code, with a look at the clock before and after it if that is recorded; once something failed or
// was interrupted, the careful way looks at the cells of every input first.
#pragma once
#include <chrono>

#include "interp/host/executable.hpp"

namespace taskspec {

struct RunContext {
  RunFlags& flags;
  BytesCache& memory;
  std::chrono::steady_clock::time_point start;  // of the backend: records count from it
  bool record = false, record_ops = false;
  std::atomic<bool> lost{false};  // there was no memory to note what came of a step: nothing more is to run
};

class StepRunner {
 public:
  // `needed`: by step, empty if all are.
  StepRunner(HostExecutable& executable, RunContext& context, std::span<const char> needed);
  ~StepRunner();  // gives the lanes' scratch back

  // For who runs all steps on one lane: as a walk over their codes, if all are bound, until one fails or a flag is
  // raised. Gives the first step that has not run.
  std::uint32_t run_bound(Lane& lane) noexcept {
    try {
      return context_.flags.bits() ? 0 : run_codes(lane, executable_.bound_codes(lane));
    } catch (const std::bad_alloc&) {
      return lose(), static_cast<std::uint32_t>(executable_.plan->steps());
    }
  }
  // Never throws: a worker has nobody who could catch it, and the steps behind this one must still be told.
  void run(Lane& lane, std::uint32_t step, std::uint32_t worker) noexcept {
    try {
      if (context_.flags.bits()) return run_watched(lane, step, worker);
      run_all(lane, step);
    } catch (const std::bad_alloc&) {
      lose();
    }
  }

 private:
  void lose() {
    context_.lost.store(true, std::memory_order_relaxed);
    context_.flags.raise(RunFlags::careful);
  }
  std::uint32_t run_codes(Lane& lane, std::span<BoundCode* const> codes);
  void run_rest_carefully(Lane& lane, std::span<const CodeCall> calls);
  void run_all(Lane& lane, std::uint32_t step) {
    count(lane, step);
    run_calls<&StepRunner::call>(lane, executable_.calls(step));
  }
  void count(Lane& lane, std::uint32_t step) const {
    ++lane.dispatches;
    lane.tasks += executable_.plan->step_starts[step + 1] - executable_.plan->step_starts[step];
  }
  void run_watched(Lane& lane, std::uint32_t step, std::uint32_t worker);
  template <bool (StepRunner::*call)(Lane&, const CodeCall&)>
  void run_calls(Lane& lane, std::span<const CodeCall> calls);
  void run_carefully(Lane& lane, std::uint32_t step, std::uint32_t worker);
  bool run_call_carefully(Lane& lane, const CodeCall& call);
  bool call(Lane& lane, const CodeCall& call) {
    if (BoundCode* const bound = executable_.bound_code(call, lane)) return bound->run(lane.context);
    if (call.needs_scratch && !lane.scratch.data()) return call_with_scratch(lane, call);
    return call.code->run(executable_.operands(call, lane), lane.context);
  }
  bool call_timed(Lane& lane, const CodeCall& call);
  bool call_with_scratch(Lane& lane, const CodeCall& call);
  bool call_with_little(Lane& lane, const CodeCall& call);
  void lend_scratch(Lane& lane);
  void publish(const CodeCall& call) {
    for (std::uint32_t k = 0; k < call.code->tasks; ++k) publish(call.task + k);
  }
  void publish(std::size_t task) {
    for (BufferId buffer : executable_.outputs(task))
      if (!executable_.table.publish(buffer)) bug("a cell was published twice");
  }
  void poison(std::size_t task, const Poison& poison);
  std::optional<Poison> inherited(std::size_t task) const;
  std::optional<Poison> inherited_by_point(NodeId node) const;
  void settle(Lane& lane, const CodeCall& call);
  std::int64_t now() const;

  HostExecutable& executable_;
  RunContext& context_;
  std::span<const char> needed_;
};

}  // namespace taskspec
