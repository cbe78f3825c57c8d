// Energy: what was counted, times the table of the chip. Counts and prices are whole numbers, so that the sum is exact
// and does not depend on its order.
//
//   EnergyCounts counts;
//   counts.add(core, layer, compute_counts(conv, {.in = Precision::i8}, chip));
//   energy_of(counts.total(), chip) == 1'174'400             in 1e-4 pJ
//   for (const EnergyItem& item : energy_items(counts.total(), chip))     a lumped chip is not split
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hwsim/chip/chip.hpp"

namespace taskspec {

inline constexpr std::int64_t energy_units_per_pj = 10'000;

PerEvent& operator+=(PerEvent& sum, const PerEvent& more);
PerEvent operator*(PerEvent counts, std::int64_t times);

// Of a compute block that runs once on one core of kind primitive: products, operations, bytes at the ports. Nothing of
// time and network, which the block alone does not know.
PerEvent compute_counts(const TaskBlock& block, const BlockUse& use, const Chip& chip);

// core_clk where some stage of a core works, idle_clk for the rest of the time; of every core of the chips in use.
PerEvent clock_counts(std::int64_t cores, std::int64_t busy_core_clk, std::int64_t total_clk);

// What happened on each core and for each layer. What belongs to no layer, idle cores first of all, is `overhead`.
class EnergyCounts {
 public:
  EnergyCounts() = default;
  EnergyCounts(std::size_t cores, std::size_t layers) : cores_(cores), layers_(layers) {}
  static constexpr std::size_t no_layer = SIZE_MAX;

  void add(std::size_t core, std::size_t layer, const PerEvent& counts);
  EnergyCounts& operator+=(const EnergyCounts& more);  // of the same cores and layers
  const std::vector<PerEvent>& cores() const { return cores_; }
  const std::vector<PerEvent>& layers() const { return layers_; }
  const PerEvent& overhead() const { return overhead_; }
  PerEvent total() const;  // of the cores, and so of layers and overhead

 private:
  std::vector<PerEvent> cores_, layers_;
  PerEvent overhead_;
};

// One kind of event; energies in 1e-4 pJ.
struct EnergyItem {
  EnergyEvent event;
  std::int64_t count = 0, price = 0, energy = 0;
};

// Those that happened. Of a lumped chip the ones that carry its figure alone.
std::vector<EnergyItem> energy_items(const PerEvent& counts, const Chip& chip);
// In 1e-4 pJ; INT64_MAX where it is more.
std::int64_t energy_of(const PerEvent& counts, const Chip& chip);
double watts(std::int64_t energy, std::int64_t clk, const Chip& chip);

std::string energy_pj(std::int64_t energy);  // "117.44 pJ": all digits that are not 0 at the end

}  // namespace taskspec
