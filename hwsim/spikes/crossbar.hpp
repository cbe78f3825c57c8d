// Cores that are crossbars: a bit per axon and neuron says whether they meet, each axon has one of a few types, and
// each neuron one weight per type.
//
//   Result<std::vector<CrossbarCore>> cores = assign_axon_types(net, placement, 4);
//   (*cores)[0].axons[0].type
//
// Types are dealt out by source: the one that agrees with most of a source's weights and contradicts none. Weights that
// do not fit are refused, never approximated.
#pragma once
#include <cstdint>
#include <vector>

#include "hwsim/spikes/limits.hpp"

namespace taskspec {

struct CrossbarAxon {
  PopulationId population;
  std::int64_t neuron = 0;
  std::int32_t type = 0;
};

struct CrossbarCore {
  std::vector<CrossbarAxon> axons;                 // ascending by population and neuron
  std::vector<std::vector<std::int32_t>> weights;  // by neuron of the core, as its slices follow, and type
};

// Of each core of the placement. Error E4043: the weights of a core take more types; with how many values differ, and
// how many types would do.
Result<std::vector<CrossbarCore>> assign_axon_types(const SpikingNet& net, const SpikePlacement& placement,
                                                    std::int32_t types);

}  // namespace taskspec
