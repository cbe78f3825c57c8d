// What is said of a program that was cut in two: its lines, channels, metrics and advice, as text and as JSON.
#include "ir/slices_report.hpp"

#include <doctest/doctest.h>

#include "frontend/check.hpp"
#include "ir/json_slices.hpp"
#include "ir/print_slices.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/slices_by_hand.hpp"

using namespace taskspec;
using taskspec::testing::cut_by_hand;

namespace {

Program checked_program(const std::string& text) {
  Sources sources;
  const SourceId main = sources.add("test.task", text);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  return std::move(*program);
}

struct Reported {
  Slices slices;
  SlicesReport report;

  explicit Reported(const std::string& text) : slices(cut_by_hand(checked_program(text))) {
    report = report_slices(slices);
  }
  std::string text(std::size_t columns, bool metrics = false) const {
    return slices_text(slices.program, report, {.columns = columns, .metrics = metrics});
  }
  const SlicedFunction& function(const std::string& name) const {
    for (const SlicedFunction& function : report.functions)
      if (function.name == name) return function;
    FAIL("no function " << name);
    return report.functions.front();
  }
};

// The lines of one side.
std::string side(const SlicedFunction& function, std::optional<CodeLine> SliceRow::*line) {
  std::string text;
  for (const SliceRow& row : function.rows)
    if (row.*line) text += std::string(2 * (row.*line)->depth, ' ') + (row.*line)->text + "\n";
  return text;
}

const std::string game = R"(graph act(p: f32[2], s: f32[2]) -> (a: f32[2]) { a = p * s }
fn over(s: [float]) -> bool { return s[0] > 3.0 }
fn step(s: [float], move: int) -> [float] { return [s[0] + 1.0, s[1] + (move as float)] }
fn episode(p: f32[2]) -> float {
  var s = [0.0, 1.0]
  while !over(s) {
    let a = act(p, tensor(s)).a
    let move = a.argmax(0).scalar
    s = step(s, move)
  }
  return s[1]
}
print(episode([1.0, 2.0] as f32[2]))
)";

}  // namespace

TEST_CASE("the parts of a function are lines of the language, with names instead of ids") {
  const Reported game_report(game);
  const SlicedFunction& episode = game_report.function("episode");
  CHECK(side(episode, &SliceRow::host) == R"(s = [0, 1]
while enqueue episode:0 (!over(s)) {
  enqueue episode:1 (tensor(s))
  move = dequeue episode:2
  s = step(s, move)
}
return s[1]
)");
  CHECK(side(episode, &SliceRow::graph) == R"(while dequeue episode:0 {
  enqueue episode:2 (argmax(act(p, dequeue episode:1).a, 0).scalar)
}
)");
}
