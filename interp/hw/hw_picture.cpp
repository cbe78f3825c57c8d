#include "interp/hw/hw_picture.hpp"

#include <algorithm>

namespace taskspec {

namespace {

// A page that holds more is slow to open.
constexpr std::int64_t most_neurons = 20'000, most_traced = 24, most_traced_steps = 4'000;
constexpr std::size_t most_spikes = 200'000;

}  // namespace

PopulationRecorder::PopulationRecorder(std::string name, Extents shape, bool has_potentials) {
  population_.name = std::move(name);
  population_.neurons = 1;
  for (const std::int64_t extent : shape) population_.neurons *= extent;
  population_.shape = std::move(shape);
  if (population_.neurons <= most_neurons)
    population_.per_neuron.assign(static_cast<std::size_t>(population_.neurons), 0);
  const std::int64_t traced = has_potentials ? std::min(most_traced, population_.neurons) : 0;
  for (std::int64_t i = 0; i < traced; ++i) population_.traced.push_back(i * population_.neurons / traced);
  population_.potentials.resize(population_.traced.size());
}

bool PopulationRecorder::wants_potentials() const {
  return !population_.traced.empty() && population_.steps < most_traced_steps;
}

void PopulationRecorder::step(std::span<const std::uint32_t> spikes,
                              const std::function<std::int32_t(std::int64_t)>& potential) {
  for (const std::uint32_t neuron : spikes) {
    if (!population_.per_neuron.empty()) ++population_.per_neuron[neuron];
    if (population_.spikes.size() < most_spikes)
      population_.spikes.emplace_back(static_cast<std::int32_t>(population_.steps), static_cast<std::int32_t>(neuron));
  }
  population_.per_step.push_back(static_cast<std::int64_t>(spikes.size()));
  if (wants_potentials())
    for (std::size_t k = 0; k < population_.traced.size(); ++k)
      population_.potentials[k].push_back(potential(population_.traced[k]));
  ++population_.steps;
}

NeuronRecorder::NeuronRecorder(const ChipProgram& program) {
  const BlockGraph& graph = *program.net.graph;
  for (const NetWork& work : program.net.works) {
    const TaskBlock& block = graph[work.block];
    if (block.def->name != "CLIF" || (block.attribute("fire_type") != 4 && block.attribute("fire_type") != 5)) continue;
    BlockId state;
    for (std::size_t k = 0; k < work.in.size(); ++k)
      if (work.in[k].is_state && block.in_cluster(k).name == "state") state = work.in[k].holder;
    places_.push_back({work.block, state, PopulationRecorder(block.name, value_type(block).extents, state.valid())});
  }
}

void NeuronRecorder::look(const ChipMachine& machine) {
  for (Place& place : places_) {
    const Array made = machine.value(place.block);
    std::vector<std::uint32_t> spikes;
    for (std::int64_t i = 0; i < made.elements(); ++i)
      if (made.integer(i) != 0) spikes.push_back(static_cast<std::uint32_t>(i));
    const Array potentials = place.recorder.wants_potentials() ? machine.state(place.state) : Array();
    place.recorder.step(spikes, [&](std::int64_t n) { return static_cast<std::int32_t>(potentials.integer(n)); });
  }
}

std::vector<PicturePopulation> NeuronRecorder::populations() const {
  std::vector<PicturePopulation> populations;
  for (const Place& place : places_) populations.push_back(place.recorder.population());
  return populations;
}

}  // namespace taskspec
