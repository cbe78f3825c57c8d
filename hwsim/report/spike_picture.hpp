// What populations of spiking neurons cost and show on a chip, as the same plain data as that of mapped programs: a
// layer is a population, which makes its steps so many ticks late as its phase says; a core holds neurons of one.
//
//   ChipPicture picture = spike_picture({chip, chips, net, machine, counts}, {.steps = 20, .cycles = 101'000});
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

// Of a run, in clk.
struct SpikeClock {
  std::int64_t steps = 0, cycles = 0;  // cycles: until the last population is done
  std::int64_t latency = 0;            // of the first step
  std::int64_t interval = 0;           // from step to step: a tick in which all populations work, on average
};

// Title, stages, populations and further notes are left to who knows them.
ChipPicture spike_picture(const SpikesOnChip& spikes, const SpikeClock& clock);

// What cores did in a tick that began then and was so long, barrier included.
void add_stages(std::span<const SpikeCoreTime> cores, std::int64_t tick, std::int64_t begin, std::int64_t length,
                std::vector<StageTime>& stages);

// Populations; the chip with its limit; energy with other published figures beside; the hash. Each table that rests on
// assumed figures ends with them. Ends without a new line.
std::string spike_text(const ChipPicture& picture);

}  // namespace taskspec
