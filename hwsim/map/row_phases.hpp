// From ticks to phases: what units make and get in each tick of a step becomes phases of their groups of cores, and the
// order in which all of it happens.
//
//   group {conv, pool}, one core     tick 0: conv gets | 1: conv makes, gets | 2: conv makes, pool makes | 3: pool
//   makes phases                           conv 1, moves | conv 2 | pool 2 | pool 3, moves what comes first in the next
//   step
//
// In each tick units of a group compute in phases of their own, by the phases of the plan, and what comes for any of
// them is moved in the last of these. A whole unit has what it reads moved in the phase before its own. What comes
// first in a step is moved in the last phase of the step before, which then moves nothing else; where groups start each
// step together (step groups) it has a phase of its own at the beginning, since nothing of the next step comes in this
// one.
#pragma once
#include "hwsim/map/rows.hpp"

namespace taskspec {

struct UnitTick {
  std::int64_t tick = 0, begin = 0, end = 0;  // rows that it makes; none where equal
  std::vector<RowBatch> batches;              // that come in it
};

struct UnitTicks {
  std::vector<UnitTick> ticks;  // ascending; of a stream
  std::int64_t computed = 0;    // of a whole unit: its tick
};

// `units`: as in the plan. Sets phases of units and groups, and the order.
void tell_row_phases(const ChipPlan& plan, std::vector<UnitTicks> units, RowSchedule& made);

}  // namespace taskspec
