#include "hwsim/spikes/crossbar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace taskspec {

namespace {

struct Crossing {
  std::uint32_t population = 0, source = 0, neuron = 0;  // neuron: of the core
  std::int32_t weight = 0;
  friend auto operator<=>(const Crossing&, const Crossing&) = default;
};

// The crossings of each core, by source; synapses that share one are one of their sum.
class Crossings {
 public:
  Crossings(const SpikingNet& net, const SpikePlacement& placement) : by_core_(placement.use.size()) {
    neurons_.resize(placement.use.size());
    std::vector<std::vector<std::pair<std::int32_t, std::uint32_t>>> place(net.populations.size());
    for (const SpikeSlice& slice : placement.slices) {
      const auto core = static_cast<std::size_t>(slice.core);
      auto& of = place[slice.population.index()];
      of.resize(static_cast<std::size_t>(net[slice.population].neurons()));
      for (std::int64_t n = slice.begin; n < slice.end; ++n) {
        of[static_cast<std::size_t>(n)] = {slice.core, static_cast<std::uint32_t>(neurons_[core].size())};
        neurons_[core].push_back({slice.population, n});
      }
    }
    for (const SpikeConnection& connection : net.connections) {
      const SparseSynapses rows = expanded(net, connection);
      for (std::uint32_t s = 0; s + 1 < rows.offsets.size(); ++s)
        for (std::uint32_t i = rows.offsets[s]; i < rows.offsets[s + 1]; ++i) {
          const auto [core, neuron] = place[connection.to.index()][rows.targets[i]];
          by_core_[static_cast<std::size_t>(core)].push_back({connection.from.value, s, neuron, rows.weights[i]});
        }
    }
    for (auto& crossings : by_core_) merge(crossings);
  }

  std::size_t cores() const { return by_core_.size(); }
  const std::vector<Crossing>& of(std::size_t core) const { return by_core_[core]; }
  const std::vector<std::pair<PopulationId, std::int64_t>>& neurons(std::size_t core) const { return neurons_[core]; }

 private:
  static void merge(std::vector<Crossing>& crossings) {
    std::sort(crossings.begin(), crossings.end());
    std::size_t kept = 0;
    for (const Crossing& one : crossings) {
      Crossing* last = kept > 0 ? &crossings[kept - 1] : nullptr;
      if (last && last->population == one.population && last->source == one.source && last->neuron == one.neuron)
        last->weight += one.weight;
      else
        crossings[kept++] = one;
    }
    crossings.resize(kept);
  }

  std::vector<std::vector<Crossing>> by_core_;
  std::vector<std::vector<std::pair<PopulationId, std::int64_t>>> neurons_;
};

// Weights by type and neuron; none: not said yet.
using TypeWeights = std::vector<std::vector<std::optional<std::int32_t>>>;

// How many weights of a source a type has already; -1: it contradicts one.
std::int64_t agreement(std::span<const Crossing> source, const std::vector<std::optional<std::int32_t>>& type) {
  std::int64_t same = 0;
  for (const Crossing& one : source) {
    if (!type[one.neuron]) continue;
    if (*type[one.neuron] != one.weight) return -1;
    ++same;
  }
  return same;
}

// As many types as it takes.
CrossbarCore deal(const std::vector<Crossing>& crossings, std::size_t neurons, TypeWeights& types) {
  CrossbarCore core;
  for (std::size_t begin = 0; begin < crossings.size();) {
    std::size_t end = begin;
    while (end < crossings.size() && crossings[end].population == crossings[begin].population &&
           crossings[end].source == crossings[begin].source)
      ++end;
    const auto source = std::span(crossings).subspan(begin, end - begin);
    std::size_t best = types.size();
    std::int64_t most = -1;
    for (std::size_t t = 0; t < types.size(); ++t)
      if (const std::int64_t same = agreement(source, types[t]); same > most) best = t, most = same;
    if (best == types.size()) types.emplace_back(neurons);
    for (const Crossing& one : source) types[best][one.neuron] = one.weight;
    core.axons.push_back(
        {PopulationId(crossings[begin].population), crossings[begin].source, static_cast<std::int32_t>(best)});
    begin = end;
  }
  core.weights.resize(neurons);
  for (std::size_t n = 0; n < neurons; ++n)
    for (const auto& type : types) core.weights[n].push_back(type[n].value_or(0));
  return core;
}

}  // namespace

Result<std::vector<CrossbarCore>> assign_axon_types(const SpikingNet& net, const SpikePlacement& placement,
                                                    std::int32_t types) {
  const Crossings crossings(net, placement);
  std::vector<CrossbarCore> cores;
  std::vector<std::size_t> taken;  // types, by core
  Diags diags;
  for (std::size_t core = 0; core < crossings.cores(); ++core) {
    TypeWeights made;
    cores.push_back(deal(crossings.of(core), crossings.neurons(core).size(), made));
    taken.push_back(made.size());
  }
  for (std::size_t core = 0; core < taken.size(); ++core) {
    if (static_cast<std::int64_t>(taken[core]) <= types) continue;
    std::map<std::uint32_t, std::set<std::int32_t>> distinct;
    for (const Crossing& one : crossings.of(core)) distinct[one.neuron].insert(one.weight);
    const auto worst = std::max_element(distinct.begin(), distinct.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const auto& [population, neuron] = crossings.neurons(core)[worst->first];
    diags
        .error("E4043", Span{},
               fmt::format("core {}: its axons take {} types, and this chip has {}", core, taken[core], types))
        .note(fmt::format("population '{}': neuron {} has {} distinct weights, and one for each type is kept",
                          net[population].name, neuron, worst->second.size()))
        .help(fmt::format("limits/axon_types of {} suffices, or fewer distinct weights",
                          *std::ranges::max_element(taken)));
  }
  if (diags.has_errors()) return diags;
  return cores;
}

}  // namespace taskspec
