// Spiking networks by the book: every neuron, every synapse, every step, in doubles; and the cost of each tick counted
// one spike at a time. What the event-driven machine is compared with.
#pragma once
#include <random>
#include <vector>

#include "hwsim/spikes/machine.hpp"

namespace taskspec::oracle {

struct Truth {
  std::vector<std::vector<std::vector<char>>> spikes;   // [population][step][neuron]
  std::vector<std::vector<std::vector<char>>> updated;  // as a core charges it
  std::vector<std::vector<std::int32_t>> potentials;    // [population][neuron], after the last step
  std::uint64_t events = 0;                             // synapses behind all spikes
};

// `delay`: by connection. Connections without delay lead to populations with larger numbers.
Truth run(const SpikingNet& net, const std::vector<std::int32_t>& delay, std::int64_t steps,
          const SpikeStimulus& stimulus);

// Ticks of the run, without barrier, on an empty network; and all counts summed.
struct Bill {
  std::vector<std::int64_t> ticks;
  SpikeCounts total;
};
Bill bill(const SpikingNet& net, const Truth& truth, const SpikePlacement& placement, const SpikeSchedule& schedule,
          const SpikeCosts& costs, const SpikeGrid& grid, std::int64_t steps);

std::vector<SpikeAt> listed(const std::vector<std::vector<char>>& spikes);

}  // namespace taskspec::oracle
