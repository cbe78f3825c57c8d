// What spikes cost on a chip of kind synaptic or crossbar: time per tick and core, packets, hops, counts for energy.
//
// A core's tick takes messages_in * t_in + synapses * t_synapse(kind) + neurons * t_access + updated * t_update +
// spikes * t_spike + messages_out * t_out; the tick of the chip ends with its slowest core and its last packet, and
// then comes a barrier. Whom a spike of a neuron reaches, with how many synapses and over how many hops, never changes:
// it is worked out when the net is loaded, and a spike adds one vector.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hwsim/noc/routes.hpp"
#include "hwsim/spikes/fan.hpp"

namespace taskspec {

// In ticks of the chip's clock; from its file.
struct SpikeCosts {
  std::int64_t message_in = 0;
  std::array<std::int64_t, synapse_kinds> synapse{};  // by SynapseKind
  std::int64_t access = 0, update = 0, spike = 0, message_out = 0;
  std::int64_t hop_x = 0, hop_y = 0;
  std::int64_t border_x = 0, border_y = 0;  // that a hop takes more where it leaves a chip
  std::int64_t sums_per_packet = 1;         // of 32 bits, between tiles and the core that adds them up
  std::int64_t least_tick = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> barrier;  // [tiles in use, ticks], linear in between
};

// Cores lie on a grid of routers, in order along x, `cores_per_router` at each.
struct SpikeGrid {
  std::int32_t width = 1;  // routers, of all chips side by side
  std::int32_t cores_per_router = 1;
  std::int32_t chip_width = 1 << 30, chip_height = 1 << 30;  // routers of a chip
  std::shared_ptr<const NocRoutes> routes = {};              // of a network that is no mesh
};

// From start to end of the list as it says; beyond its ends as at the ends. Rounded to the nearest tick.
std::int64_t barrier_ticks(const SpikeCosts& costs, std::int64_t tiles);

// Links of a row and of a column, and how many of them cross a border between chips.
struct SpikeHops {
  std::int64_t x = 0, y = 0, borders_x = 0, borders_y = 0;
  std::int64_t borders() const { return borders_x + borders_y; }
  std::int64_t latency(const SpikeCosts& costs) const {
    return x * costs.hop_x + y * costs.hop_y + borders_x * costs.border_x + borders_y * costs.border_y;
  }
  friend bool operator==(const SpikeHops&, const SpikeHops&) = default;
};
// Where the router of a core lies, and its chip.
struct SpikeRouter {
  std::int32_t x = 0, y = 0, chip_x = 0, chip_y = 0;
};
SpikeRouter router_of(const SpikeGrid& grid, std::int32_t core);
SpikeHops hops_between(const SpikeRouter& from, const SpikeRouter& to);

// From core to core on any network. Of a mesh it is a subtraction; elsewhere a route is walked once and kept for as
// long as packets leave the same core, since neurons come core by core.
class SpikeWays {
 public:
  SpikeWays(const SpikeGrid& grid, std::int32_t cores);
  SpikeHops hops(std::int32_t from, std::int32_t to);

 private:
  SpikeHops walked(std::int32_t from, std::int32_t to) const;

  std::shared_ptr<const NocRoutes> routes_;
  std::vector<SpikeRouter> router_;  // by core, of a mesh: divided once, not for each neuron and core that it reaches
  std::int32_t from_ = -1;
  std::vector<std::optional<SpikeHops>> from_here_;  // by core
};

// 64-bit counts of a run; figures of a chip file turn them into energy.
struct SpikeCounts {
  std::uint64_t messages_in = 0, access = 0, updates = 0, spikes = 0, messages_out = 0;
  std::array<std::uint64_t, synapse_kinds> synapses{};
  std::uint64_t hop_x = 0, hop_y = 0, borders = 0;
  SpikeCounts& operator+=(const SpikeCounts& other);
  friend bool operator==(const SpikeCounts&, const SpikeCounts&) = default;
};

// One packet of a tick: leaves `start` ticks after the beginning.
struct SpikePacket {
  std::int64_t start = 0;
  std::int32_t from = 0, to = 0;  // cores
};
// When the last packet arrives; packets ascend by source core, then by start. Null: they do not wait for one another.
using SpikeNetwork = std::function<std::int64_t(std::span<const SpikePacket>)>;

// What a spike of one neuron sends out.
struct NeuronTraffic {
  std::uint32_t messages = 0;
  std::uint32_t hop_x = 0, hop_y = 0, borders = 0;
  std::int64_t latency = 0;  // from the end of its spike to the arrival of its last packet, on an empty network
};

// What it adds to one slice: a spike's vector is a row of these. At the first slice of a core: the message, too.
struct SpikeArrival {
  std::uint32_t slice = 0;
  std::uint32_t synapses : 29 = 0;
  std::uint32_t kind : 2 = 0;
  std::uint32_t is_message : 1 = 0;
};

// The sums that a tile sends in each step, all of them, to the slice that it works for.
struct TileTraffic {
  std::int64_t packets = 0;
  SpikeHops hops;
};

class SpikeTraffic {
 public:
  SpikeTraffic(const SpikingNet& net, const SpikePlacement& placement, const SpikeCosts& costs, const SpikeGrid& grid);
  const NeuronTraffic& of(std::size_t neuron) const { return neurons_[neuron]; }  // numbers across populations
  std::span<const SpikeArrival> arrivals(std::size_t neuron) const {
    return std::span(arrivals_).subspan(offsets_[neuron], offsets_[neuron + 1] - offsets_[neuron]);
  }
  const TileTraffic& tile(std::size_t slice) const { return sums_[slice]; }  // 0 packets: it is none
  std::int64_t tiles() const { return tiles_; }                              // routers in use

 private:
  std::vector<NeuronTraffic> neurons_;
  std::vector<std::size_t> offsets_{0};
  std::vector<SpikeArrival> arrivals_;
  std::vector<TileTraffic> sums_;
  std::int64_t tiles_ = 0;
};

}  // namespace taskspec
