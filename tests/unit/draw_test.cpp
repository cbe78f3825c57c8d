// The drawing of a graph in a terminal.
#include "ir/show/draw.hpp"

#include <doctest/doctest.h>

#include "include/taskspec/workspace.hpp"
#include "ir/base/text.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::draw_test {

namespace {

std::string drawn(std::string_view program, int columns = 80, bool unicode = true) {
  Workspace work({.unicode = unicode, .columns = [columns] { return columns; }});
  Workspace::Answer answer = work.enter(program);
  REQUIRE_MESSAGE(answer.status == Workspace::Status::ok, answer.diagnostics);
  return work.drawing("g").text;
}

constexpr const char* wide = R"(
task src(in x: f32[N]) -> (y: f32[N]) { y = x }
task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
task add(in a: f32[N], in b: f32[N], in c: f32[N]) -> (y: f32[N]) { y = a + b + c }
graph g(x: f32[N]) -> (y: f32[N]) {
  let s = src(x)
  let a = inc(s.y)
  let b = inc(inc(s.y).y)
  let c = inc(s.y)
  y = add(a.y, b.y, c.y).y
})";

}  // namespace

TEST_CASE("[draw] rails part and come together") {
  CHECK(drawn(wide) == "● src#0\n├─┬─╮\n● │ │ inc#0\n│ ● │ inc#1 → inc#2\n│ │ ● inc#3\n├─┴─╯\n● add#0");
  CHECK(drawn(wide, 80, false) == "* src#0\n|-+-\\\n* | | inc#0\n| * | inc#1 -> inc#2\n| | * inc#3\n|-+-/\n* add#0");
}

TEST_CASE("[draw] orders of places are dotted, and no line is wider than the terminal") {
  const std::string hazard = R"(
task bump(inout r: f64[N], in d: f64[1]) -> (t: f64[1]) { r += d; t = r.sum(0) }
task peek_at_everything(in r: f64[N]) -> (m: f64[1]) { m = r.max(0) }
graph g(inout r: f64[N], d: f64[1]) -> (t: f64[1], m: f64[1]) {
  let a = bump(r, d)
  let p = peek_at_everything(r)
  let b = bump(r, d)
  t = b.t
  m = p.m
})";
  CHECK(drawn(hazard) == "● bump#0\n├─╮\n● ┊ peek_at_everything#0\n├─╯\n● bump#1");
  for (int columns : {20, 24, 40}) {
    const std::string drawing = drawn(wide, columns);
    for (std::string_view line : lines_of(drawing)) CHECK(display_width(line) <= columns);
  }
  CHECK(drawn(hazard, 20).find("…") != std::string::npos);
}

TEST_CASE("[draw] what follows is told from what only stands below") {
  const std::string tasks =
      "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\ntask bump(inout r: f32[N]) -> (y: f32[N]) { r += 1.0; y "
      "= r }\n";
  CHECK(drawn(tasks + "graph g(x: f32[N]) -> (a: f32[N], b: f32[N]) { a = inc(x).y\n b = inc(x).y }") ==
        "● inc#0\n● inc#1");
  CHECK(drawn(tasks + "graph g(inout r: f32[N]) -> (a: f32[N], b: f32[N]) { a = bump(r).y\n b = bump(r).y }") ==
        "● bump#0\n┊\n● bump#1");
}

TEST_CASE("[draw] a graph of many chains is cut, and nothing is drawn of none") {
  TaskGraph empty;
  CHECK(drawing(empty, aggregate(empty)) == "no tasks\n");
  std::string program = "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\ngraph g(x: f32[N]) -> (y: f32[N]) {\n";
  for (int i = 0; i < 300; ++i) program += "  let a" + std::to_string(i) + " = inc(x)\n";
  const std::string text = drawn(program + "  y = a0.y\n}");
  CHECK(lines_of(text).size() == 201);
  CHECK(text.ends_with("… and 100 chains"));
}

}  // namespace taskspec::draw_test
