// The synapses of one connection that end in one part of the neurons, as they are walked when sources spike: rows by
// source of 3 bytes per synapse, rows of a matrix, or the kernel of a convolution, which is never written out.
//
//   PartSynapses rows(net, connection, {.begin = 0, .end = 1000, .at = 0});
//   events += rows.deliver(sources, wheel, slot);
#pragma once
#include <compare>
#include <span>
#include <variant>

#include "hwsim/spikes/net.hpp"

namespace taskspec {

// Neurons begin..end of the target population, which are at..at + end - begin of the part.
struct PartPiece {
  std::int64_t begin = 0, end = 0, at = 0;
  std::int64_t neurons() const { return end - begin; }
};

// Sums of the steps to come: [slots][neurons]. Where a spike arrives is marked, if anybody wants to know.
struct SpikeWheel {
  std::int32_t* sums = nullptr;
  std::uint8_t* arrived = nullptr;
  std::int64_t neurons = 0;
  std::int32_t slots = 1;
};

// One weight on its way to a sum that may overflow. They are added in this order.
struct LateAddition {
  std::uint32_t source = 0, connection = 0, synapse = 0;  // source: across populations; synapse: of the source
  std::uint32_t target = 0;                               // of the part
  std::int32_t weight = 0;
  friend auto operator<=>(const LateAddition&, const LateAddition&) = default;
};

inline constexpr std::int64_t most_part_neurons = 65536;  // targets are 16 bits

class PartSynapses {
 public:
  // Narrow whole numbers as they fit: i8, or an index into a code book of at most 256, or more bytes.
  using Weights = std::variant<std::vector<std::int8_t>, std::vector<std::uint8_t>, std::vector<std::int16_t>,
                               std::vector<std::int32_t>>;

  PartSynapses(const SpikingNet& net, const SpikeConnection& connection, const PartPiece& piece);

  // Adds the weights of these sources, ascending numbers in their population, to the sums of the slot, and of those
  // behind it where synapses have delays of their own. Returns how many synapses. A proof says that no sum overflows.
  std::uint64_t deliver(std::span<const std::uint32_t> sources, const SpikeWheel& wheel, std::int32_t slot) const;
  // The same of sources that give numbers, by which their weights are multiplied.
  std::uint64_t deliver_graded(std::span<const std::uint32_t> sources, std::span<const std::int32_t> values,
                               const SpikeWheel& wheel, std::int32_t slot) const;
  // Without a proof: keeps the additions for later, by slot. `next`: with source and connection.
  std::uint64_t keep(std::uint32_t source, std::int32_t value, const LateAddition& next,
                     std::vector<std::vector<LateAddition>>& slots, std::int32_t slot) const;
  std::int64_t synapses() const;  // implicit ones not counted
  std::int64_t bytes() const;     // of rows, weights and offsets
  // Adds |weight| of each synapse, `most` times, to the sum of its target in the part.
  void add_bounds(const SpikeConnection& connection, std::int64_t most, std::span<std::int64_t> bounds) const;

 private:
  template <class Sums>
  std::uint64_t walk(std::span<const std::uint32_t> sources, const Sums& sums) const;

  SynapseKind kind_;
  PartPiece piece_;
  std::vector<std::uint32_t> offsets_;  // sparse: by source
  std::vector<std::uint16_t> targets_;  // sparse
  std::vector<std::uint8_t> delays_;    // sparse, none: 0
  Weights weights_;                     // dense: [source][neuron of the piece]
  std::vector<std::int32_t> codebook_;
  ConvolutionSynapses kernel_;  // without its weights
  SpikeShape from_, to_;
};

}  // namespace taskspec
