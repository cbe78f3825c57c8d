#include "hwsim/spikes/account.hpp"

#include <algorithm>
#include <cstdlib>

namespace taskspec {

std::int64_t barrier_ticks(const SpikeCosts& costs, std::int64_t tiles) {
  if (costs.barrier.empty()) return 0;
  const auto after =
      std::find_if(costs.barrier.begin(), costs.barrier.end(), [&](const auto& entry) { return entry.first >= tiles; });
  if (after == costs.barrier.begin()) return after->second;
  if (after == costs.barrier.end()) return costs.barrier.back().second;
  const auto before = after - 1;
  const std::int64_t width = after->first - before->first, rise = after->second - before->second;
  return before->second + (2 * rise * (tiles - before->first) + width) / (2 * width);
}

SpikeRouter router_of(const SpikeGrid& grid, std::int32_t core) {
  const std::int32_t router = core / grid.cores_per_router, x = router % grid.width, y = router / grid.width;
  return {x, y, x / grid.chip_width, y / grid.chip_height};
}

SpikeHops hops_between(const SpikeRouter& from, const SpikeRouter& to) {
  return {std::abs(from.x - to.x), std::abs(from.y - to.y), std::abs(from.chip_x - to.chip_x),
          std::abs(from.chip_y - to.chip_y)};
}

SpikeWays::SpikeWays(const SpikeGrid& grid, std::int32_t cores) : routes_(grid.routes) {
  for (std::int32_t core = 0; core < cores && !routes_; ++core) router_.push_back(router_of(grid, core));
  if (routes_) from_here_.resize(static_cast<std::size_t>(cores));
}

SpikeHops SpikeWays::hops(std::int32_t from, std::int32_t to) {
  if (!routes_) return hops_between(router_[static_cast<std::size_t>(from)], router_[static_cast<std::size_t>(to)]);
  if (from != from_) from_here_.assign(from_here_.size(), std::nullopt);
  from_ = from;
  std::optional<SpikeHops>& known = from_here_[static_cast<std::size_t>(to)];
  if (!known) known = walked(from, to);
  return *known;
}

// Links of buses and trees have no direction: they are counted as those of a row, as everywhere.
SpikeHops SpikeWays::walked(std::int32_t from, std::int32_t to) const {
  SpikeHops hops;
  const int begin = routes_->endpoint(from), end = routes_->endpoint(to);
  for (int i = 0; i < routes_->hops(begin, end); ++i) {
    const NocHop hop = routes_->hop(begin, end, i);
    const bool is_border = routes_->is_border(hop.server);
    const bool is_column = is_border && (hop.server - routes_->links()) % 4 >= 2;
    ++(is_column ? hops.y : hops.x);
    if (is_border) ++(is_column ? hops.borders_y : hops.borders_x);
  }
  return hops;
}

SpikeCounts& SpikeCounts::operator+=(const SpikeCounts& other) {
  messages_in += other.messages_in, access += other.access, updates += other.updates;
  spikes += other.spikes, messages_out += other.messages_out;
  for (std::size_t k = 0; k < synapse_kinds; ++k) synapses[k] += other.synapses[k];
  hop_x += other.hop_x, hop_y += other.hop_y, borders += other.borders;
  return *this;
}

SpikeTraffic::SpikeTraffic(const SpikingNet& net, const SpikePlacement& placement, const SpikeCosts& costs,
                           const SpikeGrid& grid) {
  const FanOut fan(net, placement.slices);
  std::vector<std::int32_t> routers;
  for (const SpikeSlice& slice : placement.slices) routers.push_back(slice.core / grid.cores_per_router);
  std::sort(routers.begin(), routers.end());
  tiles_ = std::unique(routers.begin(), routers.end()) - routers.begin();

  SpikeWays ways(grid, placement.cores());
  sums_.resize(placement.slices.size());
  for (std::size_t s = 0; s < sums_.size(); ++s)
    for (std::size_t t = s + 1; t <= s + static_cast<std::size_t>(placement.slices[s].tiles); ++t)
      sums_[t] = {(placement.slices[s].neurons() + costs.sums_per_packet - 1) / costs.sums_per_packet,
                  ways.hops(placement.slices[t].core, placement.slices[s].core)};

  arrivals_.reserve(fan.entries());
  offsets_.reserve(fan.neurons() + 1);
  neurons_.reserve(fan.neurons());
  std::vector<std::int32_t> cores;                                             // that the neuron at hand reaches
  std::vector<std::size_t> seen(static_cast<std::size_t>(placement.cores()));  // by core: the neuron that did last
  std::size_t slice = 0;                                                       // that it lies in
  for (std::size_t p = 0; p < net.populations.size(); ++p)
    for (std::int64_t n = 0; n < net.populations[p].neurons(); ++n) {
      const bool is_outside = net.populations[p].is_outside();
      while (!is_outside && (placement.slices[slice].population != PopulationId(p) || placement.slices[slice].end <= n))
        ++slice;
      cores.clear();
      for (const FanEntry& entry : fan.of(PopulationId(p), n)) {
        const std::int32_t core = placement.slices[entry.slice].core;
        const bool is_first = seen[static_cast<std::size_t>(core)] != offsets_.size();
        seen[static_cast<std::size_t>(core)] = offsets_.size();
        if (is_first) cores.push_back(core);
        arrivals_.push_back({.slice = entry.slice,
                             .synapses = entry.synapses & ((1U << 29) - 1),
                             .kind = entry.kind,
                             .is_message = is_first ? 1U : 0U});
      }
      offsets_.push_back(arrivals_.size());
      NeuronTraffic traffic{.messages = static_cast<std::uint32_t>(cores.size())};
      std::int64_t leaves = 0;
      for (const std::int32_t core : cores) {
        if (is_outside) break;  // they are put in where they are wanted
        const SpikeHops hops = ways.hops(placement.slices[slice].core, core);
        traffic.hop_x += static_cast<std::uint32_t>(hops.x), traffic.hop_y += static_cast<std::uint32_t>(hops.y);
        traffic.borders += static_cast<std::uint32_t>(hops.borders());
        leaves += costs.message_out;
        traffic.latency = std::max(traffic.latency, leaves + hops.latency(costs));
      }
      neurons_.push_back(traffic);
    }
}

}  // namespace taskspec
