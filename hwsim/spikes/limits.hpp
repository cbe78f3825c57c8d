// Populations cut over cores: as many neurons in a row on each core as its limits allow.
//
//   Result<SpikePlacement> placed = place_spikes(net, {.neurons = 1024, .axons_in = 4096, .cores = 128});
//   placed->slices[0]                    // population 0, neurons 0..1024, on core 0
//
// The limits are plain numbers, which the caller takes from a chip file. What does not fit is refused with what it
// takes, what there is, who contributes most, and the smallest change with which it fits.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "hwsim/chip/chip.hpp"
#include "hwsim/spikes/net.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// Where cores come from: what a refusal may offer.
struct SpikeRoom {
  ChipGrid grid;
  ChipExtent chips;
  bool is_asked = false;  // for fewer cores than these chips have
};

// Refusals call a limit by its name in the file of a chip.
struct SpikeLimits {
  std::int64_t cores = no_limit;         // that there are
  std::int64_t neurons = no_limit;       // of a core
  std::int64_t axons_in = no_limit;      // source neurons that a core hears of
  std::int64_t axons_out = no_limit;     // of a core: destination cores, summed over its neurons
  std::int64_t destinations = no_limit;  // cores that one neuron may reach
  std::int64_t synapse_bits = no_limit;  // of a core
  std::int64_t memory_bits = no_limit;   // that the bank for weights has
  std::size_t memory_bank = 0;           // its number in the file
  std::int64_t bits_per_synapse = 8;     // convolutions: per weight of the kernel, which a core holds once
  std::int64_t weight_bits = 32;         // two's complement
  std::int64_t delay = no_limit;         // steps
  // Of more axons than a core has each core adds up a part, and a further one adds these sums: tiles.
  bool adds_partial_sums = false;
  std::optional<SpikeRoom> room = {};  // none: nothing is known of more cores
};

// Neurons of one population on one core.
struct SpikeSlice {
  PopulationId population;
  std::int64_t begin = 0, end = 0;
  std::int32_t core = 0;
  // So many slices behind it have no neurons: their cores hear of so many axons each, in order, and add up for this
  // one.
  std::int32_t tiles = 0;
  std::int64_t axons_of_tile = 0;
  std::int64_t neurons() const { return end - begin; }
  friend bool operator==(const SpikeSlice&, const SpikeSlice&) = default;
};

// What a core takes of its limits.
struct SpikeUse {
  std::int64_t neurons = 0, axons_in = 0, axons_out = 0, synapse_bits = 0;
};

struct SpikePlacement {
  std::vector<SpikeSlice> slices;  // by population, then by neuron; together all neurons but outside ones, and tiles
  std::vector<SpikeUse> use;       // by core
  std::int32_t cores() const { return static_cast<std::int32_t>(use.size()); }
};

// Whether the neurons of a population draw from one stream of random numbers, in order: such a one is never cut.
bool draws_random(const SpikePopulation& population);

// Errors E4041 a population that cannot be cut, E4042 too few cores, E4043 a limit that one neuron, weight or delay
// exceeds. The net is well formed (check_spiking).
Result<SpikePlacement> place_spikes(const SpikingNet& net, const SpikeLimits& limits);

// Everything on core 0, whatever it takes: for values alone.
SpikePlacement on_one_core(const SpikingNet& net);

}  // namespace taskspec
