#include "bench/front.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "bench/child.hpp"
#include "bench/growth.hpp"
#include "include/taskspec/workspace.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/live_program.hpp"

namespace taskspec::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* hello = "let x = [1.0, 2.0, 3.0] as f32[3]\nprint((x * 2.0).sum(0).scalar)\n";
constexpr const char* inc = "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n";

// Ordinary statements: every tenth line records a task, the others are host code.
std::string long_text(std::size_t lines) {
  std::string text = std::string(inc) + "var x = fill(f32[4], 1.0)\nvar i = 0\n";
  for (std::size_t line = 0; line < lines; ++line)
    text += line % 10 == 0 ? "x = inc(x).y\n" : fmt::format("i = i * 3 % 1000 + {}\n", line % 7);
  return text + "print(x.sum(0).scalar, i)\n";
}

struct Line {
  const char* what;
  const char* bar;
  double limit;  // seconds
  std::function<Sample()> run;
  Repeats repeats = {};
};

// The answers of a prompt after a session of 200 entries with 100 tasks.
Sample answer() {
  static Workspace work = [] {
    Workspace session({.output = [](std::string_view) {}});
    session.enter(inc);
    session.enter("var x = fill(f32[4], 1.0)");
    for (int i = 0; i < 100; ++i) {
      session.enter(fmt::format("fn f{}(n: int) -> int {{ return n + {} }}", i, i));
      session.enter("x = inc(x).y");
    }
    return session;
  }();
  return measure([&] { work.enter("let y = inc(x).y\ny.sum(0)"); });
}

Sample redefinition() {
  static Workspace work = [] {
    Workspace session({.output = [](std::string_view) {}});
    session.enter(inc);
    for (int i = 0; i < 100; ++i)
      session.enter(fmt::format("graph g{}(x: f32[N]) -> (y: f32[N]) {{ y = inc(inc(x).y).y }}", i));
    return session;
  }();
  return measure([&] { work.enter(inc); });
}

// All that a session recorded.
void write_recorded(LiveProgram& live, const std::string& path) {
  const TaskGraph& graph = live.session().graph;
  export_graph(live.program(), live.program().main().top_level, graph, aggregate(graph), path);
}

}  // namespace

int front(const Settings& settings) {
  Folder folder;
  const std::string& tool = settings.tool;
  const std::string small = folder.file("hello.task", hello), json = folder.file("tasks.json");
  const std::string text4 = folder.file("short.task", long_text(10'000)),
                    text5 = folder.file("long.task", long_text(100'000));
  LiveProgram recorded(standard_toolbox(), {}, {});
  recorded.enter("<1>",
                 fmt::format("{}var x = fill(f32[4], 1.0)\nfor i in 0..{} {{ x = inc(x).y }}", inc, settings.tasks));
  Line lines[] = {
      {"start-up of run hello", "0.050", 0.05,
       [&] {
         return process({tool, "run", small});
       }},
      {"  peer: python3 -c 'print(1)'", "", 0,
       [&] {
         return process({"python3", "-c", "print(1)"});
       }},
      {"answer of the prompt, 200 entries before", "0.050", 0.05, answer},
      {"task used by 100 graphs defined again", "0.050", 0.05, redefinition},
      {"run of 10^4 lines", "", 0,
       [&] {
         return process({tool, "run", text4});
       }},
      {"run of 10^5 lines", "10.000", 10,
       [&] {
         return process({tool, "run", text5});
       }},
      {"JSON of the recorded tasks", "5.000", 5, [&] { return measure([&] { write_recorded(recorded, json); }); }},
  };
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  for (int i = 0; i < repeats; ++i)
    for (Line& line : lines) line.repeats.add(line.run());

  fmt::print("seconds: minimum and median of {} in turns, least CPU time; {} tasks in the JSON, {:.1f} MB\n\n", repeats,
             settings.tasks, static_cast<double>(fs::file_size(json)) / 1e6);
  Table table({"", "min", "median", "CPU", "bar", "of the bar"});
  for (const Line& line : lines)
    table.add({line.what, fmt::format("{:.4f}", line.repeats.min_wall()),
               fmt::format("{:.4f}", line.repeats.median_wall()), fmt::format("{:.4f}", line.repeats.min_cpu()),
               line.bar, line.limit > 0 ? fmt::format("{:.2f}", line.repeats.median_wall() / line.limit) : ""});
  fmt::print("{}\n10^5 lines to 10^4 lines: {:.1f} times (linear is 10)\n", table.text(),
             lines[5].repeats.min_wall() / lines[4].repeats.min_wall());
  growth(settings);
  return 0;
}

}  // namespace taskspec::bench
