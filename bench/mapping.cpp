#include "bench/mapping.hpp"

#include <fmt/format.h>

#include <functional>

#include "bench/exact_graphs.hpp"
#include "hwsim/map/optimise.hpp"

namespace taskspec::bench {

namespace {

constexpr double action_bar = 0.05;  // seconds

struct ActionRow {
  const char* name;
  std::function<bool(ChipMapping&)> act;
  bool has_bar = true;
};

// Each on a mapping that has seen no action: nothing of what it needs is known before.
Repeats time_of(const ChipMapping& fresh, const ActionRow& row, int repeats) {
  Repeats times;
  for (int i = 0; i < repeats; ++i) {
    Result<ChipMapping> mapping = ChipMapping::with(fresh.net(), fresh.options(), fresh.decisions());
    bool is_done = false;
    times.add(measure([&] { is_done = row.act(*mapping); }));
    if (!is_done) fmt::print("  {} was refused\n", row.name);
  }
  return times;
}

}  // namespace

int mapping(const Settings& settings) {
  const auto chip = std::make_shared<const Chip>(load_chip("tianjicx").value_or_throw());
  const ChipNet net = chip_net(lenet_graph()).value_or_throw();
  const ChipMapping fresh = ChipMapping::make(net, {.chip = chip, .objective = MapObjective::cores}).value_or_throw();
  const std::string first = fresh.name_of(0), second = fresh.name_of(1);
  const std::int32_t core = fresh.decisions().units[0].cores[0];
  const ActionRow actions[] = {
      {"split", [&](ChipMapping& m) { return static_cast<bool>(m.split(first, {.y = 4})); }},
      {"take_out", [&](ChipMapping& m) { return static_cast<bool>(m.take_out(second)) || m.units().units.size() < 2; }},
      {"move", [&](ChipMapping& m) { return static_cast<bool>(m.move(core, 100)); }},
      {"explain", [&](ChipMapping& m) { return static_cast<bool>(m.explain(first)); }, false},
  };
  const int repeats = settings.repeats > 0 ? settings.repeats : 5;
  Table table({"an action on LeNet, tianjicx", "ms", "bar ms", ""});
  for (const ActionRow& row : actions) {
    const double seconds = time_of(fresh, row, repeats).median_wall();
    if (row.has_bar)
      table.add({row.name, fmt::format("{:.2f}", seconds * 1e3), fmt::format("{:.0f}", action_bar * 1e3),
                 seconds < action_bar ? "holds" : "MISSED"});
    else
      table.add({row.name, fmt::format("{:.2f}", seconds * 1e3), "", ""});
  }
  ChipMapping searched = ChipMapping::make(net, {.chip = chip}).value_or_throw();
  const std::int64_t moves = 2000;
  const Sample sample = measure([&] { optimise(searched, {.moves = moves}, nullptr); });
  table.add({"a move of optimise", fmt::format("{:.3f}", sample.wall * 1e3 / static_cast<double>(moves)), "", ""});
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace taskspec::bench
