// Random spiking networks: all kinds of neurons and synapses, recurrent, with delays.
#pragma once
#include <memory>
#include <random>

#include "hwsim/spikes/machine.hpp"

namespace taskspec {

struct RandomSpikes {
  std::shared_ptr<SpikingNet> net;
  SpikeStimulus stimulus;
  std::int64_t steps = 0;
};
// `huge`: weights that overflow a sum.
RandomSpikes random_spikes(std::uint64_t seed, bool huge = false);

// A CLIF block with these attributes, for a population.
TaskBlock clif_block(std::initializer_list<std::pair<const char*, std::int64_t>> attributes);

}  // namespace taskspec
