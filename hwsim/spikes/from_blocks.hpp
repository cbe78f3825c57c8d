// A block graph of spiking neurons as a spiking network: each CLIF is a population, each input one from outside, and
// what lies between them, sums of products (CC, CC2D, CVM), sums (CADD) and moves, becomes synapses.
//
//   Result<SpikingBlocks> made = spiking_net_of(graph);
//   made->population[clif.index()]                       // of a block; none: it is no population
//
// Convolutions and matrices whose edges move nothing stay as they are, others are written out. A delay of an edge is
// one of the synapses behind it. Values are those of the graph where no sum can overflow (SpikeMachine::is_proven), and
// inputs are 0 or 1.
#pragma once
#include <vector>

#include "hwsim/spikes/net.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

// One element of an output: the neuron that spikes there.
struct SpikePlace {
  PopulationId population;
  std::int32_t neuron = 0;
};

struct SpikingBlocks {
  SpikingNet net;
  std::vector<PopulationId> population;          // by block
  std::vector<PopulationId> potentials;          // by block: storage that holds those of a population, neuron by neuron
  std::vector<std::vector<SpikePlace>> outputs;  // by block, of outputs: by element; no population: always 0
};

// `graded`: on crossbars that run other networks, too, sums of bytes are populations as well, each with the soma behind
// it (CCMPB, CLUT), or as it is where an output is one; the largest of windows is made of sums (window_max.hpp). Inputs
// are bytes then. What is no sum of products with weights that are known before the run is E4051, all at once.
// Populations that reach an output are recorded. Errors E4041: a block that is no synapse, a value that is no spike,
// weights that are no data, a delayed bias, a delayed output, an edge that begins with other values than 0.
Result<SpikingBlocks> spiking_net_of(const BlockGraph& graph, bool graded = false);

}  // namespace taskspec
