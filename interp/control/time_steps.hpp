// What `run g(x) on host(time_steps: T)` repeats: recorded once by the interpreter, run T times by the session.
//
//   steps.number     the constant that a run changes from step to step
//   steps.carried    {first, last}: versions of a state before and after a step; the last one is the next one's first
//   steps.outputs    what the call gives
#pragma once
#include <cstdint>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

struct TimeSteps {
  std::int64_t count = 1;
  Value number;
  struct Carried {
    Value first, last;
  };
  std::vector<Carried> carried;
  std::vector<Value> outputs;
  FunctionRef<void()> between;  // before each step; may throw
};

}  // namespace taskspec
