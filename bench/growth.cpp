#include "bench/growth.hpp"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "bench/turns.hpp"
#include "include/taskspec/workspace.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/pipeline.hpp"

namespace taskspec::bench {

namespace {

// ---- a prompt -------------------------------------------------------------------------------------

struct Kind {
  const char* what;
  std::function<std::string(std::size_t)> text;  // of turn i
  Turns turns = {};
};

std::vector<Kind> kinds() {
  return {{"let of a number", [](std::size_t i) { return fmt::format("let n{} = {} * 2", i, i); }},
          {"let of a tensor operation", [](std::size_t i) { return fmt::format("let t{} = inc(t{}).y", i + 1, i); }},
          {"use of an old tensor", [](std::size_t i) { return fmt::format("let u{} = add(t{}, x).y", i, i / 2); }},
          {"assignment", [](std::size_t) { return std::string("v = inc(v).y"); }},
          {"task defined again",
           [](std::size_t i) {
             return fmt::format("task dbl(in a: f32[N]) -> (b: f32[N]) {{ b = a * {}.0 }}", i % 7 + 1);
           }},
          {"expression", [](std::size_t i) { return fmt::format("n{} + {}", i / 2, i); }},
          {"contents of a tensor", [](std::size_t i) { return fmt::format("t{}", i + 1); }},
          {"entry that is wrong", [](std::size_t i) { return fmt::format("let w = n{} + true", i / 2); }}};
}

void prompt(Table& table) {
  Workspace work({.output = [](std::string_view) {}});
  work.enter("task inc(in a: f32[N]) -> (y: f32[N]) { y = a + 1.0 }");
  work.enter("task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }");
  work.enter("let x = fill(f32[4], 1.0); var v = x; let t0 = x");
  std::vector<Kind> all = kinds();
  const std::size_t before = resident_bytes();
  for (std::size_t entries = 0, i = 0; entries < many; ++i)
    for (Kind& kind : all) {
      const std::string text = kind.text(i);
      kind.turns.add(measure([&] { work.enter(text); }).wall);
      ++entries;
    }
  const std::size_t bytes = (resident_bytes() - before) / many;
  for (const Kind& kind : all) add_row(table, "prompt: " + std::string(kind.what), kind.turns);
  fmt::print("a prompt of {} entries holds {} bytes for each of them\n", many, bytes);
}

// ---- long files -----------------------------------------------------------------------------------

// Lets of numbers and tensors in turn, with a receive and a send among eight of them.
std::string lets(std::size_t count) {
  std::string text = "let x = fill(f32[4], 1.0)\nlet a0 = parse_float(\"1.5\")\nlet b0 = x\n";
  for (std::size_t i = 1; i <= count / 8; ++i)
    text += fmt::format(
        "let a{0} = a{1} + 1.0\nlet b{0} = b{1} * a{0}\nlet c{0} = b{0} + x\nlet d{0} = b{0}.sum(0).scalar\n"
        "let e{0} = d{0} * 2.0\nlet f{0} = x * e{0}\nlet g{0} = c{0} + f{0}\nlet h{0} = [e{0}, a{0}]\n",
        i, i - 1);
  return text + fmt::format("print(g{0}.array, h{0})\n", count / 8);
}

void long_file(Table& table) {
  const Toolbox tools = standard_toolbox();
  struct Phase {
    const char* what;
    std::vector<double> times;
  } phases[] = {
      {"file of lets, a let: check", {}}, {"file of lets, a let: cut in two", {}}, {"file of lets, a let: run", {}}};
  for (std::size_t count : {many / 10, many}) {
    Sources sources;
    const std::string text = lets(count);
    std::optional<Program> program;
    const double checked =
        measure([&] { program = std::move(check_text("<lets>", text, {}, tools, sources)).value_or_throw(); }).wall;
    const double cut = measure([&] { (void)cut_program(*program); }).wall;
    RunSettings settings;
    settings.output = [](std::string_view) {};
    const double run = measure([&] { (void)run_program(*program, tools, settings); }).wall;
    for (auto [phase, seconds] :
         {std::pair(&phases[0], checked), std::pair(&phases[1], cut), std::pair(&phases[2], run)})
      phase->times.push_back(seconds / static_cast<double>(count));
  }
  for (const Phase& phase : phases)
    table.add({phase.what, fmt::format("{:.1f}", 1e6 * phase.times[0]), fmt::format("{:.1f}", 1e6 * phase.times[1]),
               fmt::format("{:.2f}", phase.times[1] / phase.times[0])});
}

}  // namespace

void growth(const Settings&) {
  fmt::print("\ngrowing programs: microseconds per entry\n");
  Table table({"", fmt::format("at {}", few), fmt::format("at {}", many), "ratio"});
  prompt(table);
  host_values(table);
  long_file(table);
  fmt::print("\n{}a file is measured at {} and at {} lets\n", table.text(), many / 10, many);
}

}  // namespace taskspec::bench
