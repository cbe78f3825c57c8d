// Ticks of spiking cores that are longer than the fixed phase of their chip: E5012.
//
//   overrun_refusal(chip, machine, net, {{.number = 3, .length = 16'000, .cores = ...}}, 5'050)
#pragma once
#include "hwsim/chip/chip.hpp"
#include "hwsim/spikes/machine.hpp"

namespace taskspec {

struct SpikeTick {
  std::int64_t number = 0;
  std::int64_t length = 0;           // with its barrier
  std::vector<SpikeCoreTime> cores;  // that did something
};

// Of ticks that are too long, one at least, the first: the core that works longest in it or, where packets take longer
// than any core works, the one that sends last; its population, and what takes most. The phase that it offers holds all
// of them: those of steps to come nobody knows.
Diag overrun_refusal(const Chip& chip, const SpikingNet& net, const SpikeMachine& machine,
                     std::span<const SpikeTick> ticks);

}  // namespace taskspec
