// When one worker is better than all of them.
#include <doctest/doctest.h>

#include "interp/host/worker_choice.hpp"

namespace taskspec::host_worker_choice_test {

namespace {

// How many of `runs` went to one worker, when both ways take what they take.
int runs_alone(WorkerChoice& worker_choice, int runs, double alone, double shared) {
  int count = 0;
  for (int i = 0; i < runs; ++i) {
    bool choice = worker_choice.alone();
    count += choice;
    worker_choice.ran(choice, choice ? alone : shared);
  }
  return count;
}

}  // namespace

TEST_CASE("heavy steps are always shared") {
  WorkerChoice worker_choice(1000, 2);
  CHECK(runs_alone(worker_choice, 1000, 1.0, 0.6) == 0);
}

TEST_CASE("tiny steps are left to one worker, and the other way is tried ever more rarely") {
  WorkerChoice worker_choice(1'000'000, 2);
  int alone = runs_alone(worker_choice, 1000, 0.006, 0.035);
  CHECK(alone >= 995);
  CHECK(alone < 1000);
}

TEST_CASE("tiny steps that are faster shared stay shared") {
  WorkerChoice worker_choice(1'000'000, 2);
  CHECK(runs_alone(worker_choice, 1000, 0.050, 0.030) <= 5);
}

TEST_CASE("a plan whose steps become heavy is shared again") {
  WorkerChoice worker_choice(1000, 2);
  runs_alone(worker_choice, 100, 5e-6, 40e-6);
  CHECK(worker_choice.alone());
  CHECK(runs_alone(worker_choice, 1000, 1.0, 0.6) <= 5);
}

}  // namespace taskspec::host_worker_choice_test
