#include "interp/host/worker_choice.hpp"

namespace taskspec {

namespace {
constexpr double handing_over = 200e-9;  // of a step to another core, with all that follows from it
constexpr double waking = 50e-6;         // workers up and letting them sleep again
}  // namespace

bool WorkerChoice::is_light() const { return shared_ * workers_ < steps_ * handing_over || shared_ < waking; }

void WorkerChoice::ran(bool alone, double seconds) {
  (alone ? alone_ : shared_) = seconds;
  if (runs_until_trial_ == 0) {
    trial_distance_ *= 8;
    runs_until_trial_ = trial_distance_;
  } else if (alone_is_faster() || is_light()) {
    --runs_until_trial_;
  }
}

}  // namespace taskspec
