// Runs the steps of an executable on all workers of a pool, each as soon as those before it are done. What
// a step sets free is run next by the worker that finished it, the rest can be stolen; nothing is allocated
// and no lock taken on the way.
#pragma once
#include "interp/host/pool.hpp"
#include "interp/host/step_runner.hpp"

namespace taskspec {

class ParallelRun final : public Job {
 public:
  ParallelRun(HostExecutable& executable, StepRunner& runner, Pool& pool);
  void run(Worker& caller);
  void process(Worker& worker, StepRange range) override;

 private:
  static constexpr std::uint32_t none = Worker::none;
  // Steps that have to hear of several predecessors in a row are told once.
  struct Pending {
    std::uint32_t position = none, count = 0;
  };
  void run_step(Worker& worker, std::uint32_t step) {
    runner_.run(executable_.lanes[worker.index], step, worker.index);
  }
  void push(Worker& worker, StepRange range);
  void park(Worker& worker, StepRange range);
  void run_parked(Worker& worker);
  void run_chunk(Worker& worker, StepRange chunk);
  void run_on(Worker& worker, std::uint32_t position);
  std::uint32_t release(Worker& worker, std::uint32_t step);
  void release_together(Worker& worker, std::uint32_t step, Pending& pending);
  void flush(Worker& worker, Pending& pending);
  bool arrive(std::uint32_t position, std::uint32_t count = 1);
  std::uint32_t step_at(std::uint32_t position) const { return links_.targets[position] & ~StepLinks::only; }
  StepRange successors(std::uint32_t step) const;

  HostExecutable& executable_;
  StepRunner& runner_;
  Pool& pool_;
  const StepLinks& links_;
};

// All steps on the calling thread, which is that of `worker`, in the order of the plan.
void run_serially(HostExecutable& executable, StepRunner& runner, std::uint32_t worker);

}  // namespace taskspec
