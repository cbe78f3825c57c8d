// Who reaches whom: what a neuron brings into a core, and which slices of neurons a source reaches with how many
// synapses.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "hwsim/spikes/limits.hpp"

namespace taskspec {

struct FanIn {
  std::int64_t axons = 0;  // sources that the core did not hear of before
  std::int64_t bits = 0;   // of synapses
};

// What the neurons of a core need, one after the other.
class FanCount {
 public:
  explicit FanCount(const SpikingNet& net);
  void begin_core() { ++core_; }
  FanIn add(PopulationId population, std::int64_t neuron, std::int64_t bits_per_synapse);
  // Connections into a neuron with their synapses, the largest first, three at most.
  std::vector<std::pair<std::size_t, std::int64_t>> contributors(PopulationId population, std::int64_t neuron) const;

 private:
  struct Rows {  // sparse synapses by target
    std::vector<std::uint32_t> offsets, sources;
  };
  template <class F>
  void for_each_source(std::size_t connection, std::int64_t neuron, F&& f) const;  // of what is no convolution
  template <class F>
  void for_each_pixel(std::size_t connection, std::int64_t neuron, F&& f) const;  // that a convolution reads
  std::int64_t new_axon(std::size_t source);

  const SpikingNet& net_;
  std::vector<std::vector<std::size_t>> into_;                 // connections by target population
  std::vector<Rows> rows_;                                     // by connection
  std::vector<std::size_t> first_;                             // by population: of all neurons
  std::vector<std::uint32_t> heard_;                           // by source: the core that last heard of it
  std::vector<std::uint32_t> kernel_;                          // by connection: the core that last got its kernel
  std::vector<std::pair<std::uint32_t, std::int64_t>> pixel_;  // by connection: core and pixel that was last looked at
  std::uint32_t core_ = 0;
};

// Synapses of one source into one slice.
struct FanEntry {
  std::uint32_t slice = 0;
  std::uint32_t synapses : 30 = 0;
  std::uint32_t kind : 2 = 0;  // SynapseKind
};

class FanOut {
 public:
  FanOut(const SpikingNet& net, std::span<const SpikeSlice> slices);
  // Ascending by slice, then by kind.
  std::span<const FanEntry> of(PopulationId population, std::int64_t neuron) const;
  // How many cores a spike goes to.
  std::int64_t cores(PopulationId population, std::int64_t neuron) const {
    return cores_[first_[population.index()] + static_cast<std::size_t>(neuron)];
  }

  std::size_t neurons() const { return first_.back(); }
  std::size_t entries() const { return entries_.size(); }

 private:
  void flush(std::vector<std::size_t>& seen);
  void count(const SpikeConnection& connection, std::int64_t source);
  void add(std::uint32_t slice, SynapseKind kind, std::int64_t synapses);
  void add_run(PopulationId population, SynapseKind kind, std::int64_t begin, std::int64_t end);

  const SpikingNet& net_;
  std::span<const SpikeSlice> slices_;
  std::vector<std::size_t> first_;                  // by population: of all neurons
  std::vector<std::vector<std::uint32_t>> slice_;   // by population and neuron
  std::vector<std::vector<std::uint32_t>> within_;  // by population: its slices
  std::vector<std::uint32_t> sums_;                 // by slice and kind, of the source at hand
  std::vector<std::uint64_t> marks_;                // a bit for each sum that is not 0
  std::vector<std::uint32_t> cores_;                // by neuron
  std::vector<std::int64_t> axons_;                 // by slice with tiles: sources that they have heard of
  std::vector<std::size_t> offsets_;
  std::vector<FanEntry> entries_;
};

}  // namespace taskspec
