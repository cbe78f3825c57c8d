// Networks of spiking neurons that any language can rebuild: numbers come from splitmix64. Benchmarks and tests share
// them.
//
//   random_spiking_net(10'000, 100)      200 steps of it are 51,754 spikes and 5,175,400 synaptic events
#pragma once
#include <cstdint>
#include <memory>

#include "hwsim/spikes/net.hpp"

namespace taskspec::bench {

inline constexpr std::uint64_t known_spikes = 51'754, known_events = 5'175'400;  // of 10,000 x 100 in 200 steps

// Number i of the stream with this seed.
constexpr std::uint64_t splitmix(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Each neuron feeds `fan` others, drawn with seed `seed`; the first four fifths excite, the rest inhibit.
inline SparseSynapses random_rows(std::uint32_t neurons, std::uint32_t fan, std::uint64_t seed, std::int32_t excites,
                                  std::int32_t inhibits) {
  SparseSynapses rows;
  rows.targets.resize(std::size_t{neurons} * fan);
  rows.weights.resize(rows.targets.size());
  for (std::uint32_t n = 0; n <= neurons; ++n) rows.offsets.push_back(n * fan);
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    rows.targets[i] = static_cast<std::uint32_t>(splitmix(seed, i) % neurons);
    rows.weights[i] = i / fan < neurons * 4 / 5 ? excites : inhibits;
  }
  return rows;
}

// Integers with 6 fraction bits: v = v * 7 / 8 + input + 3..10, a spike above 64; each spike arrives one step later.
inline std::shared_ptr<SpikingNet> random_spiking_net(std::uint32_t neurons, std::uint32_t fan) {
  auto net = std::make_shared<SpikingNet>();
  net->name = "random";
  SpikePopulation all{.name = "n",
                      .shape = {.f = static_cast<std::int32_t>(neurons)},
                      .model = LoihiNeurons{.du = 4096, .dv = 512, .threshold = 64}};
  for (std::uint32_t n = 0; n < neurons; ++n)
    all.bias.push_back(static_cast<std::int32_t>(splitmix(1, n) % 8 + 3) << 6);
  const PopulationId id = net->add(std::move(all));
  net->connect({.name = "s", .from = id, .to = id, .synapses = random_rows(neurons, fan, 2, 2, -10), .delay = 1});
  return net;
}

// 4000 neurons that feed 80 others each and remember their input for some 50 steps and their charge for some 200: the
// size and the time constants of the CUBA network, in other equations.
inline std::shared_ptr<SpikingNet> filtered_spiking_net() {
  auto net = std::make_shared<SpikingNet>();
  net->name = "filtered";
  SpikePopulation all{.name = "n",
                      .shape = {.f = 4000},
                      .model = LoihiNeurons{.du = 82, .dv = 20, .threshold = 8000},
                      .bias = std::vector<std::int32_t>(4000, 2750)};
  for (std::uint32_t n = 0; n < 4000; ++n)
    all.potentials.push_back(static_cast<std::int32_t>(splitmix(3, n) % 512'000));
  const PopulationId id = net->add(std::move(all));
  net->connect({.name = "s", .from = id, .to = id, .synapses = random_rows(4000, 80, 4, 6, -72), .delay = 1});
  return net;
}

// 10,000 neurons that only listen: each spike of as many others, put in from outside, reaches 100 of them.
inline std::shared_ptr<SpikingNet> listening_net() {
  auto net = std::make_shared<SpikingNet>();
  net->name = "listening";
  const PopulationId in = net->add({.name = "in", .shape = {.f = 10'000}});
  const PopulationId out =
      net->add({.name = "out", .shape = {.f = 10'000}, .model = LoihiNeurons{.dv = 512, .threshold = 64}});
  net->connect({.name = "s", .from = in, .to = out, .synapses = random_rows(10'000, 100, 5, 2, -10), .delay = 1});
  return net;
}

}  // namespace taskspec::bench
