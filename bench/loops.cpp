#include "bench/loops.hpp"

#include <fmt/format.h>

#include "bench/host_code.hpp"
#include "bench/shapes.hpp"
#include "bench/subject.hpp"
#include "bench/tbb_graph.hpp"

namespace taskspec::bench {

namespace {

struct LoopCase {
  const char* name;
  const char* text;  // {} is the number of turns
};

constexpr LoopCase loop_cases[] = {
    {"one op", "var x = fill(f32[4], 1.0)\nfor i in 0..{} {{ x = x + 1.0 }}\nprint(x.sum(0).scalar)\n"},
    {"one op on another number each turn",
     "var x = fill(f32[4], 1.0)\nfor i in 0..{} {{ x = x + i * 0.5 }}\nprint(x.sum(0).scalar)\n"},
    {"a fn of two ops",
     "fn turn(x: f32[4]) -> f32[4] {{ return x * 0.5 + 1.0 }}\nvar x = fill(f32[4], 1.0)\n"
     "for i in 0..{} {{ x = turn(x) }}\nprint(x.sum(0).scalar)\n"},
    {"one op, and a receive that decides nothing",
     "var x = fill(f32[4], 1.0)\nvar s = 0.0\nfor i in 0..{} {{\n  x = x + 1.0\n  s = s + x.min(0).scalar\n}}\n"
     "print(s)\n"},
};

// What stays resident while a thing runs, beyond what was there.
template <class F>
double growth(F&& run) {
  forget_peak();
  const std::size_t before = resident_bytes();
  run();
  const std::size_t peak = peak_resident_bytes();
  return peak > before ? static_cast<double>(peak - before) : 0;
}

struct LoopRow {
  std::string name;
  std::size_t turns;
  std::function<void()> run;
  Repeats time = {};
  double bytes = 0;
};

std::vector<LoopRow> rows_for(std::size_t turns) {
  std::vector<LoopRow> rows;
  for (const LoopCase& what : loop_cases) {
    auto subject = std::make_shared<Subject>(fmt::format(fmt::runtime(what.text), turns));
    rows.push_back({what.name, turns, [subject] { subject->run_cut(); }});
  }
  auto all = std::make_shared<Subject>(fmt::format(fmt::runtime(loop_cases[0].text), turns));
  rows.push_back({"one op, nothing given back", turns, [all] {
                    RunSettings settings = Subject::settings();
                    settings.keep_graph = true;
                    all->run_cut(settings);
                  }});
  rows.push_back({"oneTBB: a chain of empty tasks, made and run", turns, [turns] {
                    TbbGraph graph(chain_shape(turns));
                    graph.run(1);
                  }});
  return rows;
}

}  // namespace

int loops(const Settings& settings) {
  const std::size_t turns = std::max<std::size_t>(settings.tasks, 1000);
  const int repeats = settings.repeats > 0 ? settings.repeats : 5;
  std::vector<LoopRow> rows = rows_for(turns);
  for (int i = 0; i < repeats; ++i)
    for (LoopRow& row : rows) {
      double bytes = 0;
      row.time.add(measure([&] { bytes = growth(row.run); }));
      row.bytes = i == 0 ? bytes : std::min(row.bytes, bytes);
    }
  fmt::print("loops of {} turns, {} interleaved runs; ns and resident bytes per turn\n\n", turns, repeats);
  Table table({"", "min", "median", "CPU median", "bytes", "MB in all"});
  const double ns = 1e9 / static_cast<double>(turns);
  for (const LoopRow& row : rows)
    table.add({row.name, fmt::format("{:.0f}", row.time.min_wall() * ns),
               fmt::format("{:.0f}", row.time.median_wall() * ns), fmt::format("{:.0f}", row.time.median_cpu() * ns),
               fmt::format("{:.1f}", row.bytes / static_cast<double>(turns)), fmt::format("{:.1f}", row.bytes / 1e6)});
  fmt::print("{}\n", table.text());
  host_code(3 * turns, repeats);
  return 0;
}

}  // namespace taskspec::bench
