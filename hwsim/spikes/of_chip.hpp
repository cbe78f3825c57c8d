// What the file of a chip says of spiking cores, as placing and accounting take it.
//
//   const Chip chip = load_chip("loihi").value_or_throw();
//   place_spikes(net, spike_limits(chip, {2, 1}))
#pragma once
#include "hwsim/chip/chip.hpp"
#include "hwsim/spikes/account.hpp"
#include "hwsim/spikes/limits.hpp"

namespace taskspec {

// Of so many chips side by side and in rows; `cores`: all that the user allows.
SpikeLimits spike_limits(const Chip& chip, ChipExtent chips, std::optional<std::int64_t> cores = {});
SpikeGrid spike_grid(const Chip& chip, ChipExtent chips);
// A border costs what a hop across it takes longer than one inside.
SpikeCosts spike_costs(const Chip& chip);

// Of a core's memory: where axons have types, weights lie with the neurons, and a crossing is there or is not.
std::int64_t bits_per_synapse(const Chip& chip);

}  // namespace taskspec
