// What a step of training takes: steps as the last one are tried out on made-up data, beside the program, whose values
// do not change by it.
//
//   StepProfile profile = profile_steps(training, interpreter, {.warmup = 2, .steps = 10}, span);
#pragma once
#include <array>

#include "interp/train/training.hpp"

namespace taskspec {

struct Milliseconds {
  double min = 0, median = 0;
};

struct StepProfile {
  struct Row {
    OpRow op;           // of one step: its calls, and what they are worth
    Milliseconds time;  // of all of them in one step
  };
  std::int64_t steps = 0;  // that were measured
  std::vector<Row>
      rows;  // in the order of the plan of a step; ops that only change a shape take nothing, and have none
  std::array<Milliseconds, 4> passes;  // by TrainingPass: all ops of one
  StepMemory memory;
  std::uint64_t peak = 0;  // bytes at once in a step, with all that the backend keeps for it

  const Milliseconds& of(TrainingPass pass) const { return passes[static_cast<std::size_t>(pass)]; }
};

struct ProfileOptions {
  std::int64_t warmup = 2, steps = 10;
};

// E5007 where there was no step; what fails in the steps that are tried out.
StepProfile profile_steps(Training& training, Interpreter& interpreter, const ProfileOptions& options, Span span);

}  // namespace taskspec
