// Spiking networks: synaptic events, neuron updates and loading, beside a plain loop and Brian2: `taskspec bench snn`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int snn(const Settings& settings);

}  // namespace taskspec::bench
