// A network of real neurons out of a graph of tensors, and where tensors of the graph meet its neurons.
#pragma once
#include "hwsim/spikes/from_blocks.hpp"
#include "hwsim/spikes/real_net.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

struct RealBorders {
  struct Input {
    std::size_t input = 0;  // of the op list
    PopulationId population;
  };
  struct Output {
    std::size_t output = 0;          // of the op list
    std::vector<SpikePlace> places;  // by element of the tensor
  };
  struct State {
    std::size_t input = 0, output = 0;  // before and after
    PopulationId population;            // none: it is what delayed spikes are in, which nobody can read
    bool is_current = false;
  };
  RealNet net;
  std::vector<std::vector<std::int32_t>> neuron;  // by population and element of its tensor
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<State> states;
  std::vector<std::string> notes;
};

// The ports of the list that these are, without blocks yet.
LoweredGraph borders_of(const OpList& list, const RealBorders& real);

}  // namespace taskspec
