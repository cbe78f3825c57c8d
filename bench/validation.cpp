#include "bench/validation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hwsim/energy/energy.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/time/slowest_step.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/stream_nets.hpp"

namespace taskspec::bench {

namespace {

using Rows = std::vector<ValidationRow>;

TaskBlock primitive(std::string_view name, const BlockShape& shape, Precision precision,
                    BiasKind bias = BiasKind::none) {
  TaskBlock block;
  block.def = standard_blocks().find(name);
  block.shape = shape;
  block.precision = precision;
  block.bias = bias;
  return block;
}

// A number as people write it: 4,998; 59,406; 0.95.
std::string written(double value) {
  if (value == std::trunc(value)) {
    std::string digits = fmt::format("{:.0f}", value);
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
      digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
  }
  return std::abs(value) >= 1000 ? written(std::round(value)) : fmt::format("{:.4g}", value);
}

ValidationRow row(std::string figure, double published, double ours, const std::string& unit, std::string source,
                  bool independent) {
  return {std::move(figure),
          written(published) + " " + unit,
          written(ours) + " " + unit,
          published,
          ours,
          false,
          independent,
          std::move(source)};
}

// One event by itself, as a count of a million of them has it.
double price_of(const Chip& chip, EnergyEvent event) {
  constexpr std::int64_t many = 1'000'000;
  PerEvent counts;
  counts[event] = many;
  return static_cast<double>(energy_of(counts, chip)) / static_cast<double>(many * energy_units_per_pj);
}

// What the slowest group of cores takes of a frame by itself, beside the window of a step in the chip team's
// simulation.
ValidationRow resnet_row(const Chip& chip) {
  const std::shared_ptr<const BlockGraph> graph = tests::resnet({.blocks = {3, 4, 6, 3}, .bottleneck = true});
  const ChipProgram program =
      map_net(chip_net(graph).value_or_throw(),
              {.chip = std::make_shared<const Chip>(chip), .chips = {5, 1}, .blocks = standard_blocks()})
          .value_or_throw();
  ValidationRow made =
      row("TianjicX ResNet-50 on five chips, slowest group of cores, a frame", 350'000,
          static_cast<double>(slowest_step(program)), "clk", "chip team's generator: window of a step", true);
  made.is_bound = true;
  return made;
}

void tianjicx_rows(Rows& rows) {
  const Chip chip = load_chip("tianjicx").value_or_throw();
  const auto clk = [&](const TaskBlock& block, const BlockUse& use) {
    return static_cast<double>(cycles(block, use, chip.cycles));
  };
  for (const std::int64_t n : {1, 16, 100}) {
    const TaskBlock conv =
        primitive("CC", {.y = n, .x = 4, .f = 32, .r = 16, .ky = 1, .kx = 1}, Precision::i32, BiasKind::constant);
    rows.push_back(row(fmt::format("TianjicX delay convolution, 6 + 37 n, n = {}", n), 6 + 37 * static_cast<double>(n),
                       clk(conv, {}), "clk", "chip team's generator", true));
  }
  const auto per_group = [&](const char* what, const char* name, std::int64_t f, Precision in, Precision out,
                             double measured) {
    const TaskBlock block = primitive(name, {.f = f, .ky = 1, .kx = 1}, out);
    rows.push_back(row(what, measured, clk(block, {.in = in}) - static_cast<double>(chip.cycles.start), "clk",
                       "chip team's measurement", true));
  };
  const Precision i8 = Precision::i8, i32 = Precision::i32;
  per_group("TianjicX table, i32 to i8, 16 B out", "CLUT", 16, i32, i8, 21);
  per_group("TianjicX table, i32 to i32, 16 B out", "CLUT", 4, i32, i32, 6);
  per_group("TianjicX table, i8 to i8, 16 B out", "CLUT", 16, i8, i8, 18);
  per_group("TianjicX table, i8 to i32, 64 B out", "CLUT", 16, i8, i32, 21);
  per_group("TianjicX compare, i8 to i8, 16 B out", "CCMPB", 16, i8, i8, 2);
  per_group("TianjicX compare, i32 to i8, 16 B out", "CCMPB", 16, i32, i8, 5);
  const TaskBlock cc =
      primitive("CC", {.y = 8, .x = 8, .f = 32, .r = 32, .ky = 3, .kx = 3}, Precision::i32, BiasKind::vector);
  rows.push_back(row("TianjicX case cc (8x8, 32 to 32, 3x3), the reference program's formula", 5'024, clk(cc, {}),
                     "clk", "reference program, intended form", true));
  const TaskBlock large =
      primitive("CC", {.y = 56, .x = 56, .f = 64, .r = 64, .ky = 3, .kx = 3}, Precision::i32, BiasKind::vector);
  ValidationRow bound =
      row("TianjicX multiply-adds per clk and core, 56x56, 64 to 64, 3x3", 128,
          static_cast<double>(multiply_adds(large)) / clk(large, {}), "MAC/clk", "public mapper: 4 x 32 units", true);
  bound.is_bound = true;
  rows.push_back(bound);
  rows.push_back(row("TianjicX memory of a core", 144, static_cast<double>(chip.memory_bytes()) / 1024, "KB",
                     "public mapper", false));
  rows.push_back(resnet_row(chip));
}

void tianjic_rows(Rows& rows) {
  const Chip chip = load_chip("tianjic").value_or_throw();
  const double phases = static_cast<double>(chip.hz) / static_cast<double>(chip.sync.phase_clk);
  rows.push_back(row("Tianjic rounds per second", 59'400, phases, "/s", "IEEE CAS Magazine 2022", false));
  rows.push_back(row("Tianjic synaptic operation", 1.54, price_of(chip, EnergyEvent::syn_dense), "pJ",
                     "Deng 2020, table 3 of PMC10326429", false));
  rows.push_back(row("Tianjic peak of artificial networks, 2 operations per multiply-add", 1.28,
                     2 / price_of(chip, EnergyEvent::mac_i8), "TOPS/W", "restatement of Nature 2019, +-10 %", false));
  PerEvent round;
  round[EnergyEvent::mac_i8] = chip.grid.cores.area() * *chip.limits.fan_in * *chip.limits.neurons;
  const double full = watts(energy_of(round, chip), chip.sync.phase_clk, chip);
  rows.push_back(
      row("Tianjic at full load (0.4 W in the bicycle tasks)", 1, full, "W", "public catalogue, about", true));
}

void spiking_rows(Rows& rows) {
  const Chip loihi = load_chip("loihi").value_or_throw();
  const char* davies = "Davies 2018, through a public simulator";
  const auto energy = [&](const char* what, EnergyEvent event, double published) {
    rows.push_back(row(fmt::format("Loihi {}", what), published, price_of(loihi, event), "pJ", davies, false));
  };
  energy("synaptic event, dense", EnergyEvent::syn_dense, 35.5);
  energy("synaptic event, sparse", EnergyEvent::syn_sparse, 33.6);
  energy("synaptic event, convolution", EnergyEvent::syn_conv, 24.0);
  energy("neuron looked at", EnergyEvent::access, 51.2);
  energy("neuron updated", EnergyEvent::update, 21.6);
  energy("spike", EnergyEvent::spike, 69.3);
  energy("message out", EnergyEvent::msg, 111.0);
  energy("hop along x", EnergyEvent::hop_x, 3.0);
  energy("hop along y", EnergyEvent::hop_y, 4.2);
  const auto time = [&](const char* what, std::int64_t clk, double published) {
    rows.push_back(row(fmt::format("Loihi {}, time", what), published,
                       static_cast<double>(clk) * 1e9 / static_cast<double>(loihi.hz), "ns", davies, false));
  };
  time("message in", loihi.time.message_in, 16);
  time("synaptic event, dense", loihi.time.synapse_dense, 3.8);
  time("synaptic event, sparse", loihi.time.synapse_sparse, 4.7);
  time("synaptic event, convolution", loihi.time.synapse_conv, 3.1);
  time("neuron looked at", loihi.time.access, 6);
  time("neuron updated", loihi.time.update, 3.7);
  time("spike", loihi.time.spike, 30);
  time("message out", loihi.time.message_out, 5.1);
  time("hop along x", loihi.noc.hop_clk_x, 4.1);
  time("hop along y", loihi.noc.hop_clk_y, 6.5);
  time("barrier of 29 tiles", loihi.sync.barrier_clk(29), 1'800);
  const Chip truenorth = load_chip("truenorth").value_or_throw();
  rows.push_back(row("TrueNorth synaptic event (2.5 pJ at its peak)", 26, price_of(truenorth, EnergyEvent::syn_dense),
                     "pJ", "Merolla 2014", false));
  rows.push_back(row("TrueNorth neurons", 1'048'576,
                     static_cast<double>(truenorth.grid.cores.area() * *truenorth.limits.neurons), "", "Merolla 2014",
                     false));
}

std::string error_text(const ValidationRow& row) {
  if (row.is_bound) return row.made <= row.expected ? "below" : "ABOVE";
  const double error = 100 * (row.made / row.expected - 1);
  return std::abs(error) < 0.005 ? "0" : fmt::format("{:+.2g} %", error);
}

}  // namespace

std::vector<ValidationRow> validation_rows() {
  Rows rows;
  tianjicx_rows(rows);
  tianjic_rows(rows);
  spiking_rows(rows);
  return rows;
}

std::string validation_text(const std::vector<ValidationRow>& rows) {
  std::string out =
      "# Published and simulated\n\n"
      "What `taskspec bench validation` prints. *By construction*: the figure stands in a chip file, and the row "
      "shows\n"
      "that counting is right. *Independent*: it does not. The cycle rules were made to fit what the chip team "
      "measured;\n"
      "those rows show that they still do. A miss stays in the table.\n\n"
      "| figure | published | ours | error | kind | source |\n|---|---|---|---|---|---|\n";
  for (const ValidationRow& row : rows)
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.figure, row.published, row.ours, error_text(row),
                       row.independent ? "independent" : "by construction", row.source);
  std::size_t independent = 0;
  for (const ValidationRow& row : rows) independent += row.independent ? 1 : 0;
  out += fmt::format("\n{} rows, {} of them independent.\n", rows.size(), independent);
  return out;
}

int validation(const Settings&) {
  fmt::print("{}", validation_text(validation_rows()));
  return 0;
}

}  // namespace taskspec::bench
