// Neurons that reach more cores than a chip lets one reach: populations in between that do nothing but spike again, one
// neuron for each destination, so that values are those of the net and come a tick later.
//
//   Result<SplitNet> split = with_splitters(net, spike_limits(chip, {1, 1}));
//   split->net, split->splitters                        // the net with them, and how many neurons they are
//
// An output is a destination, too. The splitters of one neuron lie on one core, as it reaches but one.
#pragma once
#include "hwsim/spikes/limits.hpp"

namespace taskspec {

struct SplitNet {
  SpikingNet net;
  std::int64_t splitters = 0;
};

// Populations keep their ids; new ones follow them. Errors of place_spikes; E4043: a neuron with more destinations than
// a core has splitters.
Result<SplitNet> with_splitters(const SpikingNet& net, const SpikeLimits& limits);

}  // namespace taskspec
