// A network of spiking neurons in real numbers, as NIR describes it, before it knows a chip; and the same in the
// integers of a chip's neurons.
//
//   Result<ChipNeurons> made = in_integers(real, chip, blocks.find("CLIF"));
//
// One step of a neuron on what connections and its own bias bring, x:
//   integrate   v += r x                                               leaky     v += k_mem ((leak - v) + r x)
//   current     i += k_syn (w_in x - i), then v += k_mem ((leak - v) + r i)
//   threshold   v = x
// and it spikes where v > threshold; then v = reset, or v -= threshold.
#pragma once
#include "hwsim/spikes/chip_neurons.hpp"

namespace taskspec {

struct RealNeurons {
  enum class Kind : std::uint8_t { outside, integrate, leaky, current, threshold };
  std::string name;
  SpikeShape shape;
  Kind kind = Kind::outside;
  bool subtracts = false, recorded = false;
  // By neuron; those that its kind has. None: 0, of r and w_in 1.
  std::vector<double> k_mem = {}, k_syn = {}, r = {}, w_in = {}, leak = {}, threshold = {}, reset = {}, bias = {};
};

struct RealConnection {
  SpikeConnection synapses;     // without their weights
  std::vector<double> weights;  // in that order
};

struct RealNet {
  std::string name;
  std::vector<RealNeurons> populations;
  std::vector<RealConnection> connections;
};

// By the scales of the chip's bits: a power of two for each population, the largest with which |threshold|, |leak| and
// |reset| stay below a sixteenth of the potential's range and weights within theirs. Notes tell them, what is lost for
// the weights, and decays that are rounded away. E4052: what the chip's neurons cannot do, all at once.
// `clif`: the record of that block, for chips whose neurons it is.
Result<ChipNeurons> in_integers(const RealNet& net, const Chip& chip, const BlockDef* clif);

}  // namespace taskspec
