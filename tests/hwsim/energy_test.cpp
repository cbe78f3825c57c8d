// Energy: counts that equal closed forms, and sums to the last digit.
#include "hwsim/energy/energy.hpp"

#include <doctest/doctest.h>

#include <random>

#include "tests/hwsim/hw_blocks.hpp"

namespace taskspec::energy_test {
using tests::hw_block;

namespace {

Chip chip_of(std::string_view name) { return load_chip(name).value_or_throw(); }

struct Expected {
  TaskBlock block;
  Precision in;
  std::int64_t mac, alu, read, written;
  const char* energy;
};

// The compute blocks of LeNet, with what chip.md 4.5 says of each by hand.
std::vector<Expected> lenet() {
  const BiasKind vector = BiasKind::vector;
  const Precision i8 = Precision::i8, i32 = Precision::i32;
  return {
      // 196 groups of 25 clk and 2 * 5 lines, 28 * 7 biases of 6 outputs
      {hw_block("CC2D", {.y = 28, .x = 28, .f = 6, .r = 1, .ky = 5, .kx = 5}, i32, vector), i8, 784 * 6 * 25, 0,
       4'900 * 32 + 1'960 * 16 + 196 * 24, 784 * 24, "179928 pJ"},
      {hw_block("CCMPB", {.y = 14, .x = 14, .f = 6, .ky = 2, .kx = 2}, i8), i32, 0, 4'704, 18'816, 1'176,
       "15276.24 pJ"},
      // 30 groups of 150 clk; 100 pixels of 25 lines; 30 biases of 16 outputs
      {hw_block("CC", {.y = 10, .x = 10, .f = 16, .r = 6, .ky = 5, .kx = 5}, i32, vector), i8, 240'000, 0,
       4'500 * 32 + 2'500 * 16 + 30 * 64, 6'400, "187440 pJ"},
      {hw_block("CCMPB", {.y = 5, .x = 5, .f = 16, .ky = 2, .kx = 2}, i8), i32, 0, 1'600, 6'400, 400, "5196 pJ"},
      {hw_block("CVM", {.f = 120, .r = 400}, i32, vector), i8, 48'000, 0, 48'000 + 4 * 400 + 480, 480, "46560 pJ"},
      {hw_block("CCMPB", {.f = 120}, i8), i32, 0, 120, 480, 120, "457.2 pJ"},
      {hw_block("CVM", {.f = 84, .r = 120}, i32, vector), i8, 10'080, 0, 10'080 + 3 * 120 + 336, 336, "10148.4 pJ"},
      {hw_block("CCMPB", {.f = 84}, i8), i32, 0, 84, 336, 84, "320.04 pJ"},
      {hw_block("CVM", {.f = 10, .r = 84}, i32, vector), i8, 840, 0, 840 + 84 + 40, 40, "904.2 pJ"},
  };
}

}  // namespace

TEST_CASE("counts of LeNet's blocks equal their closed forms, energies to the last digit [chip-energy]") {
  const Chip chip = chip_of("tianjicx");
  const std::vector<Expected> blocks = lenet();
  EnergyCounts counts(3, blocks.size());
  for (std::size_t layer = 0; layer < blocks.size(); ++layer) {
    const Expected& e = blocks[layer];
    INFO("block " << layer << " " << e.block.def->name);
    const PerEvent made = compute_counts(e.block, {.in = e.in}, chip);
    CHECK(made[EnergyEvent::mac_i8] == e.mac);
    CHECK(made[EnergyEvent::alu] == e.alu);
    CHECK(made[EnergyEvent::rd] == e.read);
    CHECK(made[EnergyEvent::wr] == e.written);
    CHECK(energy_pj(energy_of(made, chip)) == e.energy);
    counts.add(layer % 3, layer, made);
  }
  CHECK(energy_pj(energy_of(counts.total(), chip)) == "446230.08 pJ");
  std::int64_t by_core = 0, by_layer = 0, by_kind = 0;
  for (const PerEvent& core : counts.cores()) by_core += energy_of(core, chip);
  for (const PerEvent& layer : counts.layers()) by_layer += energy_of(layer, chip);
  for (const EnergyItem& item : energy_items(counts.total(), chip)) by_kind += item.energy;
  CHECK(by_core == energy_of(counts.total(), chip));
  CHECK(by_layer == by_core);
  CHECK(by_kind == by_core);
}

TEST_CASE("ternary weights, tables and neurons [chip-energy]") {
  const Chip chip = chip_of("tianjicx");
  const PerEvent ternary = compute_counts(hw_block("CVM", {.f = 130, .r = 10}, Precision::i32),
                                          {.in = Precision::tern, .weight = Precision::tern}, chip);
  CHECK(ternary[EnergyEvent::mac_tern] == 1'300);
  CHECK(ternary[EnergyEvent::mac_i8] == 0);
  CHECK(ternary[EnergyEvent::rd] == 325 + 2 * 3);
  // 32 look-ups at each pixel of 20 elements, a byte each.
  const PerEvent table = compute_counts(hw_block("CLUT", {.y = 2, .x = 2, .f = 20}, Precision::i8), {}, chip);
  CHECK(table[EnergyEvent::alu] == 0);
  CHECK(table[EnergyEvent::rd] == 4 * (20 + 32));
  CHECK(table[EnergyEvent::wr] == 80);
  const PerEvent neurons = compute_counts(hw_block("CLIF", {.f = 10}, Precision::i8), {.in = Precision::i32}, chip);
  CHECK(neurons[EnergyEvent::alu] == 120);
}

TEST_CASE("idle cores count, and a step that overhead takes belongs to no layer [chip-energy]") {
  const Chip chip = chip_of("tiny");
  const PerEvent clocks = clock_counts(4, 300, 100);
  CHECK(clocks[EnergyEvent::core_clk] == 300);
  CHECK(clocks[EnergyEvent::idle_clk] == 100);
  CHECK(energy_pj(energy_of(clocks, chip)) == "6100 pJ");
  EnergyCounts counts(4, 1), more(4, 1);
  counts.add(3, EnergyCounts::no_layer, clocks);
  CHECK(counts.layers()[0] == PerEvent{});
  CHECK(counts.overhead() == clocks);
  more.add(0, 0, clocks);
  counts += more;
  CHECK(counts.total() == clocks * 2);
  CHECK(watts(energy_of(clocks, chip), 100, chip) == doctest::Approx(6'100e-12 / 1e-6));
}

TEST_CASE("a sum is exact whatever its order, and has an end [chip-energy]") {
  const Chip chip = chip_of("loihi");
  std::mt19937_64 random(3);
  PerEvent sum;
  std::int64_t parts = 0;
  for (int i = 0; i < 1'000; ++i) {
    PerEvent some;
    for (std::int64_t& count : some.at) count = static_cast<std::int64_t>(random() % 1'000'003);
    sum += some;
    parts += energy_of(some, chip);
  }
  CHECK(parts == energy_of(sum, chip));
  PerEvent beyond;
  beyond[EnergyEvent::msg] = INT64_MAX / 2;
  CHECK(energy_of(beyond, chip) == INT64_MAX);
}

TEST_CASE("a lumped chip is not split [chip-energy]") {
  PerEvent counts;
  counts[EnergyEvent::syn_sparse] = 100;
  counts[EnergyEvent::hop_x] = 1'000'000;
  counts[EnergyEvent::idle_clk] = 1'000'000;
  const Chip truenorth = chip_of("truenorth");
  CHECK(energy_of(counts, truenorth) == 100 * 260'000);
  CHECK(energy_items(counts, truenorth).size() == 1);
}

}  // namespace taskspec::energy_test
