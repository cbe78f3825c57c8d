// What `flit` works out cycle by cycle: phases that hold a link, border or ejection port for more than half of the time
// that their packets take under `contended`, alone in the network.
//
//   LoadedPhases phases = loaded_phases(program);
//   if (phases.goes_by_flits(message)) ...
#pragma once
#include "hwsim/program/program.hpp"

namespace taskspec {

struct LoadedPhases {
  // By first message of a way: those of loaded phases, and of others that meet them, or one another in turn, at a
  // server or an injection port. What never meets these is not changed by them, whatever the model.
  std::vector<bool> by_flits;
  bool goes_by_flits(std::int32_t message) const {
    return !by_flits.empty() && by_flits[static_cast<std::size_t>(message)];
  }
  std::int64_t sending = 0, loaded = 0, beside = 0;  // phases: all that send, those, and others with packets by flits
};

// Of a mesh; elsewhere none is. What the host sends is one phase.
LoadedPhases loaded_phases(const ChipProgram& program);

}  // namespace taskspec
