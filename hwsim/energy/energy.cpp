#include "hwsim/energy/energy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

__extension__ using WideEnergy = __int128;  // a count times a price may leave 64 bits

std::int64_t cut_energy(WideEnergy energy) {
  return energy > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(energy);
}

WideEnergy exact_energy(const PerEvent& counts, const Chip& chip) {
  WideEnergy sum = 0;
  for (std::size_t i = 0; i < energy_events; ++i) sum += WideEnergy{counts.at[i]} * chip.energy.at[i];
  return sum;
}

}  // namespace

PerEvent& operator+=(PerEvent& sum, const PerEvent& more) {
  for (std::size_t i = 0; i < energy_events; ++i) sum.at[i] += more.at[i];
  return sum;
}

PerEvent operator*(PerEvent counts, std::int64_t times) {
  for (std::int64_t& count : counts.at) count *= times;
  return counts;
}

PerEvent compute_counts(const TaskBlock& block, const BlockUse& use, const Chip& chip) {
  PerEvent counts;
  const PortBytes bytes = port_bytes(block, use, chip.cycles);
  counts[use.weight == Precision::tern ? EnergyEvent::mac_tern : EnergyEvent::mac_i8] = multiply_adds(block);
  counts[EnergyEvent::alu] = block.def->cost->only_reads ? 0 : operations(block);
  counts[EnergyEvent::rd] = bytes.read;
  counts[EnergyEvent::wr] = bytes.written;
  return counts;
}

PerEvent clock_counts(std::int64_t cores, std::int64_t busy_core_clk, std::int64_t total_clk) {
  PerEvent counts;
  counts[EnergyEvent::core_clk] = busy_core_clk;
  counts[EnergyEvent::idle_clk] = cores * total_clk - busy_core_clk;
  return counts;
}

void EnergyCounts::add(std::size_t core, std::size_t layer, const PerEvent& counts) {
  cores_[core] += counts;
  (layer == no_layer ? overhead_ : layers_[layer]) += counts;
}

EnergyCounts& EnergyCounts::operator+=(const EnergyCounts& more) {
  for (std::size_t core = 0; core < cores_.size(); ++core) cores_[core] += more.cores_[core];
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) layers_[layer] += more.layers_[layer];
  overhead_ += more.overhead_;
  return *this;
}

PerEvent EnergyCounts::total() const {
  PerEvent sum;
  for (const PerEvent& core : cores_) sum += core;
  return sum;
}

std::vector<EnergyItem> energy_items(const PerEvent& counts, const Chip& chip) {
  std::vector<EnergyItem> items;
  for (std::size_t i = 0; i < energy_events; ++i) {
    const std::int64_t count = counts.at[i], price = chip.energy.at[i];
    if (count == 0 || (chip.lumped && price == 0)) continue;
    items.push_back({static_cast<EnergyEvent>(i), count, price, cut_energy(WideEnergy{count} * price)});
  }
  return items;
}

std::int64_t energy_of(const PerEvent& counts, const Chip& chip) { return cut_energy(exact_energy(counts, chip)); }

double watts(std::int64_t energy, std::int64_t clk, const Chip& chip) {
  const double seconds = static_cast<double>(clk) / static_cast<double>(chip.hz);
  return seconds > 0 ? static_cast<double>(energy) / static_cast<double>(energy_units_per_pj) * 1e-12 / seconds : 0;
}

std::string energy_pj(std::int64_t energy) {
  std::string text = fmt::format("{}.{:04}", energy / energy_units_per_pj, energy % energy_units_per_pj);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + " pJ";
}

}  // namespace taskspec
