#include "bench/nets.hpp"

#include <fmt/format.h>

#include "hwsim/map/mapper.hpp"
#include "hwsim/time/clock.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/stream_nets.hpp"

namespace taskspec::bench {

namespace {

constexpr double map_bar = 5;  // seconds

struct NetRow {
  const char* name;
  std::shared_ptr<const BlockGraph> (*graph)();
  ChipExtent chips;
  const char* published;  // clk between frames
};

constexpr NetRow rows[] = {
    {"ResNet-18", [] { return tests::resnet({}); }, {2, 1}, ""},
    {"ResNet-50",
     [] {
       return tests::resnet({.blocks = {3, 4, 6, 3}, .bottleneck = true});
     },
     {5, 1},
     "350000"},
    {"MobileNetV2", [] { return tests::mobilenet(224); }, {3, 1}, ""},
};

}  // namespace

int nets(const Settings&) {
  const auto chip = std::make_shared<const Chip>(load_chip("tianjicx").value_or_throw());
  Table table({"int8, 224 x 224, tianjicx", "chips", "cores", "latency clk", "interval clk", "published clk", "map s",
               "bar s", "", "clock s"});
  for (const NetRow& row : rows) {
    const ChipNet net = chip_net(row.graph()).value_or_throw();
    const MapOptions options{.chip = chip, .chips = row.chips, .blocks = standard_blocks()};
    ChipProgram made;
    ChipTiming time;
    const Sample map = measure([&] { made = map_net(net, options).value_or_throw(); });
    const Sample clock = measure([&] { time = time_program(made, {}).value_or_throw(); });
    table.add({row.name, std::to_string(row.chips.area()), std::to_string(made.cores.size()),
               std::to_string(time.latency), std::to_string(time.interval), row.published,
               fmt::format("{:.2f}", map.cpu), fmt::format("{:.0f}", map_bar), map.cpu < map_bar ? "holds" : "MISSED",
               fmt::format("{:.1f}", clock.cpu)});
  }
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace taskspec::bench
