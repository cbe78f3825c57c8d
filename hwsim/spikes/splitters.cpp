#include "hwsim/spikes/splitters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/spikes/fan.hpp"

namespace taskspec {

namespace {

// A neuron that repeats the spikes of one, for some cores.
struct Splitter {
  PopulationId population;
  std::uint32_t neuron = 0;
  std::vector<std::int32_t> cores;
};

class Splitting {
 public:
  Splitting(const SpikingNet& net, const SpikeLimits& limits, const SpikePlacement& placed)
      : net_(net), limits_(limits), fan_(net, placed.slices), splitters_(net.populations.size()) {
    core_.resize(net.populations.size());
    for (const SpikeSlice& slice : placed.slices) {
      auto& of = core_[slice.population.index()];
      of.resize(static_cast<std::size_t>(net[slice.population].neurons()));
      std::fill(of.begin() + slice.begin, of.begin() + slice.end, slice.core);
    }
    for (const SpikeSlice& slice : placed.slices) slice_core_.push_back(slice.core);
  }

  Result<SplitNet> run() {
    made_.net.name = net_.name;
    made_.net.cut_each_addition = net_.cut_each_addition;
    made_.net.populations = net_.populations;
    for (std::size_t p = 0; p < net_.populations.size(); ++p)
      if (!net_.populations[p].is_outside()) split(PopulationId(p));
    if (diags_.has_errors()) return std::move(diags_);
    for (const SpikeConnection& connection : net_.connections) {
      if (splitters_[connection.from.index()].empty())
        made_.net.connect(connection);
      else
        divide(connection);
    }
    return std::move(made_);
  }

 private:
  std::vector<std::int32_t> cores_of(PopulationId population, std::int64_t neuron) const {
    std::vector<std::int32_t> cores;
    for (const FanEntry& entry : fan_.of(population, neuron)) cores.push_back(slice_core_[entry.slice]);
    std::sort(cores.begin(), cores.end());
    cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
    return cores;
  }

  void split(PopulationId id) {
    const SpikePopulation& population = net_[id];
    const std::int64_t most = limits_.destinations;
    PopulationId open;
    std::int64_t axons = 0;
    auto& splitters = splitters_[id.index()];
    splitters.resize(static_cast<std::size_t>(population.neurons()));
    bool any = false;
    for (std::int64_t n = 0; n < population.neurons(); ++n) {
      const std::vector<std::int32_t> cores = cores_of(id, n);
      const auto reaches = static_cast<std::int64_t>(cores.size());
      const std::int64_t outside = population.recorded && reaches > 0 ? 1 : 0;
      if (reaches + outside <= most) continue;
      const std::int64_t wanted = outside + (reaches + most - 1) / most;
      if (wanted > limits_.neurons) {
        diags_.error("E4043", Span{},
                     fmt::format("population '{}': neuron {} reaches {} cores, and a core has {} splitters for it",
                                 population.name, n, reaches, limits_.neurons));
        return;
      }
      const bool is_full =
          open.valid() && (made_.net[open].neurons() + wanted > limits_.neurons || axons == limits_.axons_in);
      if (!open.valid() || is_full) {
        open = made_.net.add({.name = fmt::format("splitters of {}", population.name),
                              .shape = {.f = 0},
                              .model = TrueNorthNeurons{.threshold = 1}});
        axons = 0;
      }
      ++axons;
      any = true;
      for (std::int64_t k = 0; k < wanted; ++k) {
        const std::int64_t begin = std::min(k * most, reaches), end = std::min(begin + most, reaches);
        splitters[static_cast<std::size_t>(n)].push_back(
            {open,
             static_cast<std::uint32_t>(made_.net.populations[open.index()].shape.f++),
             {cores.begin() + begin, cores.begin() + end}});
        ++made_.splitters;
      }
    }
    if (any)
      feed(id);
    else
      splitters.clear();
  }

  // From the population to its splitters.
  void feed(PopulationId id) {
    const auto& splitters = splitters_[id.index()];
    for (std::size_t p = net_.populations.size(); p < made_.net.populations.size(); ++p) {
      SparseSynapses rows;
      rows.offsets.push_back(0);
      for (const auto& of : splitters) {
        for (const Splitter& one : of)
          if (one.population == PopulationId(p)) rows.targets.push_back(one.neuron), rows.weights.push_back(1);
        rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
      }
      if (rows.targets.empty()) continue;
      made_.net.connect({.name = fmt::format("{} to its splitters", net_[id].name),
                         .from = id,
                         .to = PopulationId(p),
                         .synapses = std::move(rows)});
    }
  }

  // What goes on from neurons without splitters, and from each population of splitters.
  void divide(const SpikeConnection& connection) {
    const SparseSynapses all = expanded(net_, connection);
    const auto& splitters = splitters_[connection.from.index()];
    const auto& core = core_[connection.to.index()];
    auto add = [&](SparseSynapses& to, std::uint32_t i) {
      to.targets.push_back(all.targets[i]);
      to.weights.push_back(all.weights[i]);
      if (!all.delays.empty()) to.delays.push_back(all.delays[i]);
    };
    auto connect = [&](PopulationId from, SparseSynapses rows) {
      if (rows.targets.empty()) return;
      SpikeConnection made{connection.name, from, connection.to, std::move(rows), connection.delay};
      made_.net.connect(std::move(made));
    };
    SparseSynapses direct;
    direct.offsets.push_back(0);
    for (std::size_t s = 0; s + 1 < all.offsets.size(); ++s) {
      for (std::uint32_t i = all.offsets[s]; i < all.offsets[s + 1] && splitters[s].empty(); ++i) add(direct, i);
      direct.offsets.push_back(static_cast<std::uint32_t>(direct.targets.size()));
    }
    connect(connection.from, std::move(direct));
    for (std::size_t p = net_.populations.size(); p < made_.net.populations.size(); ++p) {
      SparseSynapses rows;
      rows.offsets.push_back(0);
      for (std::size_t s = 0; s + 1 < all.offsets.size(); ++s)
        for (const Splitter& one : splitters[s]) {
          if (one.population != PopulationId(p)) continue;
          for (std::uint32_t i = all.offsets[s]; i < all.offsets[s + 1]; ++i)
            if (std::ranges::binary_search(one.cores, core[all.targets[i]])) add(rows, i);
          rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
        }
      if (rows.offsets.size() > 1) connect(PopulationId(p), std::move(rows));
    }
  }

  const SpikingNet& net_;
  const SpikeLimits& limits_;
  FanOut fan_;
  std::vector<std::vector<std::int32_t>> core_;                // by population and neuron
  std::vector<std::int32_t> slice_core_;                       // by slice
  std::vector<std::vector<std::vector<Splitter>>> splitters_;  // by population and neuron; none: no population of them
  SplitNet made_;
  Diags diags_;
};

}  // namespace

Result<SplitNet> with_splitters(const SpikingNet& net, const SpikeLimits& limits) {
  if (limits.destinations == no_limit) return SplitNet{net, 0};
  SpikeLimits wide = limits;
  wide.destinations = no_limit;
  Result<SpikePlacement> placed = place_spikes(net, wide);
  if (!placed) return placed.diags();
  return Splitting(net, limits, *placed).run();
}

}  // namespace taskspec
