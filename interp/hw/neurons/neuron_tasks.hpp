// The neurons of the modules nir and nir64 of the prelude, as nodes of a graph: which task is which neuron, and where
// its parameters stand. A task is taken for one of them by its name and the names of all that it takes and gives, and
// only if it computes the same.
#pragma once
#include "hwsim/spikes/real_net.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

struct NeuronTask {
  enum class Role : std::uint8_t { neuron, factor, delay, delays, keep };
  std::string_view name;
  Role role = Role::neuron;
  RealNeurons::Kind kind = RealNeurons::Kind::leaky;
  std::vector<std::string_view> inputs;  // tensors, in order
  std::string_view why_not = {};         // it has no spikes, or what no chip has
  bool is_direct = false;                // its input is added as it is, whatever its time constant is
  std::size_t reset = 0;                 // parameter that says what a spike does, 0: none

  std::optional<std::size_t> input(std::string_view called) const;
};

// What a list makes of its inputs, op by op. Empty: it has numbers that are known in a run alone.
std::vector<Array> run_alone(const OpList& list, std::vector<Array> inputs);

const NeuronTask* neuron_task(const Definition& definition);
// Runs it beside a plain loop on some numbers.
bool computes_neuron(const NeuronTask& task, const OpList& list, const std::string& reset);

}  // namespace taskspec
