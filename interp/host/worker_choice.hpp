// Whether a plan is worth sharing out among workers. Steps of some nanoseconds are run faster by one worker
// than handed to another: then both ways are timed, the faster one is kept, and the other one is tried again
// ever more rarely. Which way is taken never changes a result.
//
//   WorkerChoice worker_choice(plan.steps(), workers);
//   bool alone = worker_choice.alone();  ...  worker_choice.ran(alone, seconds);
#pragma once
#include <cstdint>
#include <limits>

namespace taskspec {

class WorkerChoice {
 public:
  WorkerChoice(std::size_t steps, std::uint32_t workers) : steps_(static_cast<double>(steps)), workers_(workers) {}
  bool alone() const { return runs_until_trial_ == 0 ? !alone_is_faster() : alone_is_faster(); }
  void ran(bool alone, double seconds);

 private:
  bool alone_is_faster() const { return alone_ < shared_; }
  bool is_light() const;  // so that one worker may be the better choice, and trying it costs little

  double steps_;
  std::uint32_t workers_;
  double shared_ = std::numeric_limits<double>::max() / 4, alone_ = std::numeric_limits<double>::max();  // last times
  std::uint64_t runs_until_trial_ = 1, trial_distance_ = 1;
};

}  // namespace taskspec
