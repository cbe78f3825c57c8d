// The largest byte of each of many windows, on cores that can only add up and cut:
//
//   max(a, b) = a + (what b has more than a),   what b has more = sums b - a, cut to 0..127
//
// A difference of bytes may be more than 127: then further populations hold what is above 127, and above 254. Windows
// of more places are halved until one place is left; each time values go through two populations.
#pragma once
#include "hwsim/spikes/net.hpp"

namespace taskspec {

struct WindowMax {
  static constexpr std::int32_t zero = -1;  // a place of a window that holds 0

  TaskBlock cut;              // a CCMPB of one place that makes bytes of sums, of which `cmp` is set here
  std::int32_t least = -128;  // that any value may be
  std::vector<std::vector<std::int32_t>> windows;  // by neuron of `result`: neurons of what is read, or zero
  SpikePopulation result;                          // its model comes from `cut`
};

// Adds the populations and connections that lead from `values` to the result, which is the last one.
PopulationId add_window_max(SpikingNet& net, PopulationId values, WindowMax max);

}  // namespace taskspec
