// Groups of cores that start each step together: which of them works on which item of a stream in a step.
#pragma once
#include "hwsim/program/program.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

// By group, how many steps behind the first ones of its step group it is: what a group receives in a step for its next
// one is an item earlier there than at its sender. All 0 without step groups. Error E5012: groups that wait for one
// another within a step, told in turn.
Result<std::vector<std::int64_t>> step_levels(const ChipProgram& program);

// Could all groups start each step together, each an item of its own, and no receive buffer hold more items than it has
// room for? Then no group ever waits for itself, however long stages take.
bool has_room_for_steps(const ChipProgram& program);

}  // namespace taskspec
