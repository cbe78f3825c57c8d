// A network of spiking neurons in integers, before it knows a chip: populations, and the synapses between them.
//
//   SpikingNet net;
//   const PopulationId in = net.add({.name = "in", .shape = {.f = 100}});             // spikes come from outside
//   const PopulationId out = net.add({.name = "out", .shape = {.f = 10}, .model = LoihiNeurons{.threshold = 64}});
//   net.connect({.name = "w", .from = in, .to = out, .synapses = DenseSynapses{weights}});
//
// Step t of a population reads the spikes of step t - delay. Neurons lie in the order (y, x, f).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

struct PopulationTag;
using PopulationId = Id<PopulationTag>;  // position in SpikingNet::populations

struct SpikeShape {
  std::int32_t y = 1, x = 1, f = 1;
  std::int64_t size() const { return std::int64_t{y} * x * f; }
  friend bool operator==(const SpikeShape&, const SpikeShape&) = default;
};

// No neurons: each step is told which of them spike.
struct OutsideSpikes {};

// decay(a, d) = sign(a) * (|a| * (4096 - d) >> 12);  u = wrap24(decay(u, du) + (sum << 6));
// v = clamp(decay(v, dv) + u + bias, +-(2^23 - 1));  a spike where v > threshold << 6, then v = 0.
inline constexpr std::int32_t loihi_end = (1 << 23) - 1;  // of v
struct LoihiNeurons {
  std::int32_t du = 4096, dv = 0;  // 0..4096; 4096 forgets everything
  std::int32_t threshold = 1;      // 0..131071
};

// v = clamp(v + sum + leak + bias, 20 bits); a spike where v >= threshold, then v = reset or v - threshold.
struct TrueNorthNeurons {
  std::int32_t threshold = 1, leak = 0, reset = 0;
  bool subtracts = false;
};

// The block CLIF (its numerics come with its record), which says what a neuron does; its shape is that of the
// population. fire_type 4 or 5: it makes spikes. With a synapse, a CLIF that never fires, too: what comes in is added
// to the current that this one keeps, whose V1 (fire_type 0) is the neuron's input.
struct ClifNeurons {
  TaskBlock block;
  std::optional<TaskBlock> synapse = {};
  std::int32_t first_current = 0;                         // of each synapse
  std::vector<std::int32_t> thresholds = {}, masks = {};  // contents of these clusters; none: constants of the block
};

// No neurons, but numbers of other networks: what a block makes of each sum (CCMPB of one place, CLUT), or the sums.
struct GradedSums {
  std::optional<TaskBlock> block = {};
  std::shared_ptr<const Array> table = {};  // of a CLUT
};

using PopulationModel = std::variant<OutsideSpikes, LoihiNeurons, TrueNorthNeurons, ClifNeurons, GradedSums>;

struct SpikePopulation {
  std::string name;
  SpikeShape shape = {};
  PopulationModel model = OutsideSpikes{};
  // Added in each step, |bias| < 2^23; none: 0. clif and graded sums: where a sum begins, any number.
  std::vector<std::int32_t> bias = {};
  std::vector<std::int32_t> potentials = {};  // v before the first step; none: 0
  bool recorded = false;
  bool graded = false;  // from outside: what comes are bytes; else 0 or 1

  std::int64_t neurons() const { return shape.size(); }
  bool is_graded() const { return graded || std::holds_alternative<GradedSums>(model); }
  bool sums_begin_at_bias() const {
    return std::holds_alternative<ClifNeurons>(model) || std::holds_alternative<GradedSums>(model);
  }
  bool is_outside() const { return std::holds_alternative<OutsideSpikes>(model); }
};

struct DenseSynapses {
  std::vector<std::int32_t> weights;  // [source][target]
};

struct SparseSynapses {
  std::vector<std::uint32_t> offsets;  // [sources + 1]: where the row of a source begins
  std::vector<std::uint32_t> targets;
  std::vector<std::int32_t> weights;
  std::vector<std::uint8_t> delays = {};  // of each synapse, on top of the connection's; none: 0
};

// A spike at (y, x, c) meets the outputs oy, ox with oy * stride_y + ky * dilation_y - pad_y = y, the same for x.
struct ConvolutionSynapses {
  std::int32_t ky = 1, kx = 1, stride_y = 1, stride_x = 1, pad_y = 0, pad_x = 0, dilation_y = 1, dilation_x = 1;
  std::vector<std::int32_t> weights = {};  // [c][ky][kx][f]
};

enum class SynapseKind : std::uint8_t { dense, sparse, convolution };
inline constexpr std::size_t synapse_kinds = 3;

struct SpikeConnection {
  std::string name;
  PopulationId from, to;
  std::variant<DenseSynapses, SparseSynapses, ConvolutionSynapses> synapses;  // in the order of SynapseKind
  std::int32_t delay = 0;                                                     // 0..255

  SynapseKind kind() const { return static_cast<SynapseKind>(synapses.index()); }
};

struct SpikingNet {
  std::string name;
  std::vector<SpikePopulation> populations;
  std::vector<SpikeConnection> connections;
  bool cut_each_addition = false;  // sums are cut to 32 bits after each synapse, not once

  PopulationId add(SpikePopulation population);
  void connect(SpikeConnection connection) { connections.push_back(std::move(connection)); }
  const SpikePopulation& operator[](PopulationId id) const { return populations[id.index()]; }
  std::int64_t neurons() const;  // outside ones too
};

inline constexpr std::int32_t longest_delay = 255;

// Sizes, ranges, ends of connections: errors E4006 with the name of the population or connection.
Diags check_spiking(const SpikingNet& net);

// Calls f(first, at) for each tap of a kernel that a source meets: the to.f targets from `first` on get the weights
// from `at` on.
template <class F>
void for_each_tap(const ConvolutionSynapses& conv, SpikeShape from, SpikeShape to, std::int64_t source, F&& f) {
  const std::int64_t c = source % from.f, x = source / from.f % from.x, y = source / from.f / from.x;
  for (std::int32_t ky = 0; ky < conv.ky; ++ky) {
    const std::int64_t row = y + conv.pad_y - std::int64_t{ky} * conv.dilation_y;
    if (row < 0 || row % conv.stride_y != 0 || row / conv.stride_y >= to.y) continue;
    for (std::int32_t kx = 0; kx < conv.kx; ++kx) {
      const std::int64_t column = x + conv.pad_x - std::int64_t{kx} * conv.dilation_x;
      if (column < 0 || column % conv.stride_x != 0 || column / conv.stride_x >= to.x) continue;
      f((row / conv.stride_y * to.x + column / conv.stride_x) * to.f, ((c * conv.ky + ky) * conv.kx + kx) * to.f);
    }
  }
}

// The same synapses, written out one by one.
SparseSynapses expanded(const SpikingNet& net, const SpikeConnection& connection);

}  // namespace taskspec
