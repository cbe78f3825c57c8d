// The part of planning that deals in bytes: which buffers take over the bytes of others, and where the rest lies.
// Called by make_plan when steps, operands and homes are known; values without bytes cost nothing here.
#pragma once
#include "ir/plan/step_order.hpp"

namespace taskspec {

// Sets shares, offset, arena_bytes, scratch_bytes and the peaks. A buffer that shares has the home, index and
// offset of the one it shares with.
void place_buffers(Plan& plan, const PlanOptions& options);

// Buffers that lie in the same bytes, one after another or as aliases: not those that are given.
struct Storage {
  std::uint32_t root = 0;        // the first of them
  std::uint32_t first_task = 0;  // position in Plan::tasks of the one that writes the root
  std::uint32_t last_task = 0;   // of the last that reads or writes any
  bool kept = false;             // holds a result
  StepId free_after;         // when this step has run, nobody can touch the bytes any more; none: not before the end
  bool free_before = false;  // ... even before it runs
};

// Decides takeovers and returns what there is to place: storages with bytes, by first_task.
std::vector<Storage> share_buffers(Plan& plan, const PlanOptions& options, const StepOrder& order);

}  // namespace taskspec
