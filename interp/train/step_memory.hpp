// The bytes that a training holds for its steps, besides what goes in and what is made and gone within a step.
#pragma once
#include <cstdint>

namespace taskspec {

struct StepMemory {
  std::uint64_t slots = 0;    // weights and states of the net
  std::uint64_t moments = 0;  // of the optimizer
  std::uint64_t hidden = 0;   // what forward leaves for backward
  std::uint64_t all() const { return slots + moments + hidden; }
};

}  // namespace taskspec
