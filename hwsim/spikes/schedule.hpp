// When each population makes its steps. Step t of a population is made in tick t + depth.
//
// A chip that delivers spikes within a tick (depth 0 everywhere) does the populations of a tick one level after the
// other, in the order of the connections without delay. A chip that delivers them one tick later does all of them side
// by side, and those further from the input come later, by a tick for each population on the way: each connection has
//
//   delay + depth[to] - depth[from] >= 1
//
// so values are those of the net, and a result is there `depth` ticks later. A loop of n populations with a total delay
// of less than n steps cannot be met.
#pragma once
#include <string>
#include <vector>

#include "hwsim/spikes/net.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

struct SpikeDelivery {
  bool next_tick = false;
  bool allow_delay = false;               // loops that are too short get the delay that they lack
  std::vector<std::int32_t> longer = {};  // by population: ticks that its sums take beyond the one; none: 0
  std::int32_t ticks(std::size_t population) const { return longer.empty() ? 1 : 1 + longer[population]; }
};

struct SpikeSchedule {
  std::vector<std::int32_t> depth;                // by population
  std::vector<std::vector<PopulationId>> levels;  // of a tick
  std::vector<std::int32_t> delay;                // by connection, in steps: as given, or more
  std::vector<std::string> notes;                 // delays that were added
  std::int32_t deepest() const;
  std::int32_t slots() const { return slots_; }  // of sums: steps that spikes may be ahead

  std::int32_t slots_ = 1;
};

// Errors E4041: a loop without a delay, or shorter than its populations.
Result<SpikeSchedule> schedule_spikes(const SpikingNet& net, const SpikeDelivery& delivery);

}  // namespace taskspec
