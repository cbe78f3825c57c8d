#include "hwsim/spikes/fan.hpp"

#include <algorithm>
#include <bit>

namespace taskspec {

namespace {

std::vector<std::size_t> first_neurons(const SpikingNet& net) {
  std::vector<std::size_t> first{0};
  for (const SpikePopulation& population : net.populations)
    first.push_back(first.back() + static_cast<std::size_t>(population.neurons()));
  return first;
}

}  // namespace

FanCount::FanCount(const SpikingNet& net)
    : net_(net),
      into_(net.populations.size()),
      rows_(net.connections.size()),
      first_(first_neurons(net)),
      heard_(first_.back()),
      kernel_(net.connections.size()),
      pixel_(net.connections.size(), {0, -1}) {
  for (std::size_t c = 0; c < net.connections.size(); ++c) {
    into_[net.connections[c].to.index()].push_back(c);
    const auto* sparse = std::get_if<SparseSynapses>(&net.connections[c].synapses);
    if (!sparse) continue;
    Rows& rows = rows_[c];
    rows.offsets.assign(static_cast<std::size_t>(net[net.connections[c].to].neurons()) + 1, 0);
    rows.sources.resize(sparse->targets.size());
    for (const std::uint32_t target : sparse->targets) ++rows.offsets[target + 1];
    for (std::size_t t = 1; t < rows.offsets.size(); ++t) rows.offsets[t] += rows.offsets[t - 1];
    std::vector<std::uint32_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (std::uint32_t source = 0; source + 1 < sparse->offsets.size(); ++source)
      for (std::uint32_t s = sparse->offsets[source]; s < sparse->offsets[source + 1]; ++s)
        rows.sources[next[sparse->targets[s]]++] = source;
  }
}

template <class F>
void FanCount::for_each_source(std::size_t connection, std::int64_t neuron, F&& f) const {
  const SpikeConnection& c = net_.connections[connection];
  if (c.kind() == SynapseKind::dense) {
    for (std::int64_t source = 0; source < net_[c.from].neurons(); ++source) f(static_cast<std::size_t>(source));
    return;
  }
  const Rows& rows = rows_[connection];
  const auto n = static_cast<std::size_t>(neuron);
  for (std::size_t s = rows.offsets[n]; s < rows.offsets[n + 1]; ++s) f(std::size_t{rows.sources[s]});
}

template <class F>
void FanCount::for_each_pixel(std::size_t connection, std::int64_t neuron, F&& f) const {
  const SpikeConnection& c = net_.connections[connection];
  const auto& conv = std::get<ConvolutionSynapses>(c.synapses);
  const SpikeShape from = net_[c.from].shape, to = net_[c.to].shape;
  const std::int64_t x = neuron / to.f % to.x, y = neuron / to.f / to.x;
  for (std::int32_t ky = 0; ky < conv.ky; ++ky) {
    const std::int64_t row = y * conv.stride_y + std::int64_t{ky} * conv.dilation_y - conv.pad_y;
    if (row < 0 || row >= from.y) continue;
    for (std::int32_t kx = 0; kx < conv.kx; ++kx) {
      const std::int64_t column = x * conv.stride_x + std::int64_t{kx} * conv.dilation_x - conv.pad_x;
      if (column >= 0 && column < from.x) f(static_cast<std::size_t>((row * from.x + column) * from.f));
    }
  }
}

std::int64_t FanCount::new_axon(std::size_t source) {
  if (heard_[source] == core_) return 0;
  heard_[source] = core_;
  return 1;
}

FanIn FanCount::add(PopulationId population, std::int64_t neuron, std::int64_t bits_per_synapse) {
  FanIn in;
  for (const std::size_t c : into_[population.index()]) {
    const SpikeConnection& connection = net_.connections[c];
    const std::size_t first = first_[connection.from.index()];
    if (connection.kind() != SynapseKind::convolution) {
      for_each_source(c, neuron, [&](std::size_t source) {
        in.axons += new_axon(first + source);
        in.bits += bits_per_synapse;
      });
      continue;
    }
    if (kernel_[c] != core_) {
      const auto& conv = std::get<ConvolutionSynapses>(connection.synapses);
      in.bits += static_cast<std::int64_t>(conv.weights.size()) * bits_per_synapse;
      kernel_[c] = core_;
    }
    const std::int64_t pixel = neuron / net_[population].shape.f;
    if (pixel_[c] == std::pair(core_, pixel)) continue;
    pixel_[c] = {core_, pixel};
    const auto channels = static_cast<std::size_t>(net_[connection.from].shape.f);
    for_each_pixel(c, neuron, [&](std::size_t source) {
      for (std::size_t f = 0; f < channels; ++f) in.axons += new_axon(first + source + f);
    });
  }
  return in;
}

std::vector<std::pair<std::size_t, std::int64_t>> FanCount::contributors(PopulationId population,
                                                                         std::int64_t neuron) const {
  std::vector<std::pair<std::size_t, std::int64_t>> found;
  for (const std::size_t c : into_[population.index()]) {
    std::int64_t synapses = 0;
    if (net_.connections[c].kind() == SynapseKind::convolution)
      for_each_pixel(c, neuron, [&](std::size_t) { synapses += net_[net_.connections[c].from].shape.f; });
    else
      for_each_source(c, neuron, [&](std::size_t) { ++synapses; });
    if (synapses > 0) found.emplace_back(c, synapses);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (found.size() > 3) found.resize(3);
  return found;
}

FanOut::FanOut(const SpikingNet& net, std::span<const SpikeSlice> slices)
    : net_(net),
      slices_(slices),
      first_(first_neurons(net)),
      slice_(net.populations.size()),
      within_(net.populations.size()),
      sums_(slices.size() * synapse_kinds),
      marks_(sums_.size() / 64 + 1),
      axons_(slices.size()) {
  for (std::size_t p = 0; p < net.populations.size(); ++p)
    slice_[p].resize(static_cast<std::size_t>(net.populations[p].neurons()));
  for (std::size_t s = 0; s < slices.size(); ++s) {
    auto& of = slice_[slices[s].population.index()];
    std::fill(of.begin() + slices[s].begin, of.begin() + slices[s].end, static_cast<std::uint32_t>(s));
    if (slices[s].neurons() > 0) within_[slices[s].population.index()].push_back(static_cast<std::uint32_t>(s));
  }
  std::vector<std::vector<const SpikeConnection*>> from(net.populations.size());
  for (const SpikeConnection& connection : net.connections) from[connection.from.index()].push_back(&connection);
  std::int32_t highest = 0;
  for (const SpikeSlice& slice : slices) highest = std::max(highest, slice.core);
  std::vector<std::size_t> seen(static_cast<std::size_t>(highest) + 1);  // by core: the neuron that did last
  offsets_.reserve(first_.back() + 1);
  cores_.reserve(first_.back());
  offsets_.push_back(0);
  for (std::size_t p = 0; p < net.populations.size(); ++p)
    for (std::int64_t source = 0; source < net.populations[p].neurons(); ++source) {
      for (const SpikeConnection* connection : from[p]) count(*connection, source);
      flush(seen);
      offsets_.push_back(entries_.size());
    }
}

// The sums of a source become its entries, ascending.
void FanOut::flush(std::vector<std::size_t>& seen) {
  std::uint32_t cores = 0, tiled = UINT32_MAX, tile = 0;
  for (std::size_t word = 0; word < marks_.size(); ++word) {
    for (; marks_[word] != 0; marks_[word] &= marks_[word] - 1) {
      const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(marks_[word]));
      auto slice = static_cast<std::uint32_t>(at / synapse_kinds);
      if (slices_[slice].tiles > 0) {
        if (slice != tiled) tile = static_cast<std::uint32_t>(axons_[slice]++ / slices_[slice].axons_of_tile);
        tiled = slice;
        slice += 1 + tile;
      }
      entries_.push_back({.slice = slice,
                          .synapses = sums_[at] & ((1U << 30) - 1),
                          .kind = static_cast<std::uint32_t>(at % synapse_kinds) & 3});
      sums_[at] = 0;
      std::size_t& last = seen[static_cast<std::size_t>(slices_[slice].core)];
      if (last == offsets_.size()) continue;
      last = offsets_.size();
      ++cores;
    }
  }
  cores_.push_back(cores);
}

void FanOut::count(const SpikeConnection& connection, std::int64_t source) {
  if (const auto* sparse = std::get_if<SparseSynapses>(&connection.synapses)) {
    const auto& of = slice_[connection.to.index()];
    const auto s = static_cast<std::size_t>(source);
    for (std::uint32_t at = sparse->offsets[s]; at < sparse->offsets[s + 1]; ++at)
      add(of[sparse->targets[at]], SynapseKind::sparse, 1);
  } else if (const auto* conv = std::get_if<ConvolutionSynapses>(&connection.synapses)) {
    const SpikeShape to = net_[connection.to].shape;
    for_each_tap(*conv, net_[connection.from].shape, to, source, [&](std::int64_t first, std::int64_t) {
      add_run(connection.to, SynapseKind::convolution, first, first + to.f);
    });
  } else {
    for (const std::uint32_t slice : within_[connection.to.index()])
      add(slice, SynapseKind::dense, slices_[slice].neurons());
  }
}

void FanOut::add_run(PopulationId population, SynapseKind kind, std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const std::uint32_t slice = slice_[population.index()][static_cast<std::size_t>(begin)];
    const std::int64_t until = std::min(end, slices_[slice].end);
    add(slice, kind, until - begin);
    begin = until;
  }
}

void FanOut::add(std::uint32_t slice, SynapseKind kind, std::int64_t synapses) {
  const auto at = static_cast<std::uint32_t>(slice * synapse_kinds + static_cast<std::size_t>(kind));
  marks_[at / 64] |= std::uint64_t{1} << at % 64;
  sums_[at] += static_cast<std::uint32_t>(synapses);
}

std::span<const FanEntry> FanOut::of(PopulationId population, std::int64_t neuron) const {
  const std::size_t at = first_[population.index()] + static_cast<std::size_t>(neuron);
  return std::span(entries_).subspan(offsets_[at], offsets_[at + 1] - offsets_[at]);
}

}  // namespace taskspec
