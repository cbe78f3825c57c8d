#include "interp/hw/hw_picture.hpp"

#include <algorithm>

namespace taskspec {

namespace {

// A page that holds more is slow to open.
constexpr std::int64_t most_neurons = 20'000, most_traced = 24, most_traced_steps = 4'000;
constexpr std::size_t most_spikes = 200'000;

}  // namespace

NeuronRecorder::NeuronRecorder(const ChipProgram& program) {
  const BlockGraph& graph = *program.net.graph;
  for (const NetWork& work : program.net.works) {
    if (graph[work.block].def->name != "CLIF") continue;
    Place place{.block = work.block, .state = {}};
    for (std::size_t k = 0; k < work.in.size(); ++k)
      if (work.in[k].is_state && graph[work.block].in_cluster(k).name == "state") place.state = work.in[k].holder;
    PicturePopulation population;
    population.name = graph[work.block].name;
    population.shape = value_type(graph[work.block]).extents;
    population.neurons = value_type(graph[work.block]).elements();
    if (population.neurons <= most_neurons)
      population.per_neuron.assign(static_cast<std::size_t>(population.neurons), 0);
    const std::int64_t traced = place.state.valid() ? std::min(most_traced, population.neurons) : 0;
    for (std::int64_t i = 0; i < traced; ++i) population.traced.push_back(i * population.neurons / traced);
    population.potentials.resize(population.traced.size());
    places_.push_back(place);
    populations_.push_back(std::move(population));
  }
}

void NeuronRecorder::look(const ChipMachine& machine) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    PicturePopulation& population = populations_[p];
    const Array made = machine.value(places_[p].block);
    std::int64_t spikes = 0;
    for (std::int64_t i = 0; i < population.neurons; ++i) {
      if (made.integer(i) == 0) continue;
      ++spikes;
      if (!population.per_neuron.empty()) ++population.per_neuron[static_cast<std::size_t>(i)];
      if (population.spikes.size() < most_spikes)
        population.spikes.emplace_back(static_cast<std::int32_t>(population.steps), static_cast<std::int32_t>(i));
    }
    population.per_step.push_back(spikes);
    if (!population.traced.empty() && population.steps < most_traced_steps) {
      const Array potentials = machine.state(places_[p].state);
      for (std::size_t k = 0; k < population.traced.size(); ++k)
        population.potentials[k].push_back(static_cast<std::int32_t>(potentials.integer(population.traced[k])));
    }
    ++population.steps;
  }
}

}  // namespace taskspec
