// What populations of spiking neurons cost and show on a chip, as the same plain data as that of mapped programs: a
// layer is a population, which makes its steps so many ticks late as its phase says; a core holds neurons of one.
//
//   ChipPicture picture = spike_picture({chip, chips, net, machine, counts}, steps, cycles);
//   picture.account.steps == steps                        costs are those of all steps, since no two are alike
#pragma once
#include <span>

#include "hwsim/report/picture.hpp"
#include "hwsim/spikes/machine.hpp"

namespace taskspec {

struct SpikesOnChip {
  std::shared_ptr<const Chip> chip;
  ChipExtent chips;
  const SpikingNet& net;
  const SpikeMachine& machine;          // accounted
  std::span<const SpikeCounts> counts;  // by slice, of all steps
  // By population and neuron: how often it spiked. None: nobody knows, and links stay empty.
  std::span<const std::vector<std::int64_t>> spikes = {};
};

// Latency, title, notes, stages and populations are left to who knows them.
ChipPicture spike_picture(const SpikesOnChip& spikes, std::int64_t steps, std::int64_t cycles);

// What cores did in a tick that began then and was so long, barrier included.
void add_stages(std::span<const SpikeCoreTime> cores, std::int64_t tick, std::int64_t begin, std::int64_t length,
                std::vector<StageTime>& stages);

// The tables of a run: populations, the chip, what is assumed.
std::string spike_text(const ChipPicture& picture);

}  // namespace taskspec
