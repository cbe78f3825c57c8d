#include "bench/nets.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <random>

#include "bench/exact_graphs.hpp"
#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/time/clock.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/stream_nets.hpp"

namespace taskspec::bench {

namespace {

constexpr double map_bar = 5;    // seconds
constexpr double run_bar = 300;  // of the clock and the behaviour of a frame

using Graph = std::shared_ptr<const BlockGraph>;

struct NetRow {
  const char* name;
  Graph (*graph)();
  ChipExtent chips;
  const char* published;  // clk between frames
};

constexpr NetRow rows[] = {
    {"LeNet 32 x 32", lenet_graph, {1, 1}, ""},
    {"attention 64 x 128", [] { return tests::attention(64, 128); }, {1, 1}, ""},
    {"ResNet-18 224 x 224", [] { return tests::resnet({}); }, {2, 1}, ""},
    {"MobileNetV2 224 x 224", [] { return tests::mobilenet(224); }, {3, 1}, ""},
    {"ResNet-50 224 x 224",
     [] {
       return tests::resnet({.blocks = {3, 4, 6, 3}, .bottleneck = true});
     },
     {5, 1},
     "350000"},
};

Array random_bytes(std::mt19937_64& random, const ArrayType& type) {
  Array made = Array::make(type);
  for (std::int64_t i = 0; i < made.elements(); ++i)
    made.set_integer(i, static_cast<std::int64_t>(random() % 256) - 128);
  return made;
}

// A frame out of the cores, beside the exact engine: is every output the same?
bool makes_the_same(const Graph& graph, ChipMachine& machine, Sample& sample) {
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  std::mt19937_64 random(5);
  std::vector<Array> inputs;
  for (const ArrayType& type : engine.input_types()) inputs.push_back(random_bytes(random, type));
  const std::vector<Array> wanted = engine.run(inputs);
  std::vector<Array> made;
  sample = measure([&] { made = machine.run(inputs); });
  bool is_same = made.size() == wanted.size();
  for (std::size_t k = 0; k < made.size() && is_same; ++k)
    for (std::int64_t i = 0; i < wanted[k].elements(); ++i)
      is_same = is_same && made[k].integer(i) == wanted[k].integer(i);
  return is_same;
}

std::string bar_cell(double seconds, double most) {
  return fmt::format("{} {:.0f}", seconds < most ? "holds" : "MISSED", most);
}

}  // namespace

// A line as soon as it is known: the last ones take a minute.
int nets(const Settings&) {
  const auto chip = std::make_shared<const Chip>(load_chip("tianjicx").value_or_throw());
  constexpr const char* line = "{:<24}{:>7}{:>7}{:>13}{:>14}{:>15}{:>11}{:>8}  {:<9}{:>9}{:>9}  {:<12}{:<8}\n";
  fmt::print(fmt::runtime(line), "bytes on tianjicx", "chips", "cores", "latency clk", "interval clk", "published clk",
             "frames/s", "map s", "bar", "clock s", "frame s", "bar", "values");
  bool is_right = true;
  for (const NetRow& row : rows) {
    const Graph graph = row.graph();
    ChipProgram made;
    ChipTiming time;
    const Sample map = measure([&] {
      const ChipNet net = chip_net(graph).value_or_throw();
      made = map_net(net, {.chip = chip, .chips = row.chips, .blocks = standard_blocks()}).value_or_throw();
    });
    const Sample clock = measure([&] { time = time_program(made, {}).value_or_throw(); });
    const std::size_t cores = made.cores.size();
    ChipMachine machine(std::make_shared<const ChipProgram>(std::move(made)));
    Sample frame;
    const bool is_same = makes_the_same(graph, machine, frame);
    is_right = is_right && is_same;
    fmt::print(fmt::runtime(line), row.name, row.chips.area(), cores, time.latency, time.interval, row.published,
               fmt::format("{:.0f}", static_cast<double>(chip->hz) / static_cast<double>(time.interval)),
               fmt::format("{:.2f}", map.cpu), bar_cell(map.cpu, map_bar), fmt::format("{:.1f}", clock.cpu),
               fmt::format("{:.1f}", frame.cpu), bar_cell(clock.cpu + frame.cpu, run_bar),
               is_same ? "engine's" : "WRONG");
    std::fflush(stdout);
  }
  return is_right ? 0 : 1;
}

}  // namespace taskspec::bench
