// What a failing program tells is the same on every schedule, however its session is cut, and whoever of host and
// graph program is faster.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "include/taskspec/workspace.hpp"
#include "interp/control/natives.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::told_failures_test {
using namespace std::chrono_literals;

namespace {

const std::string definitions =
    "task divide(inout r: i32[2], in d: i32[2]) { r = r / d }\n"
    "task keep(inout r: i32[2], in d: i32[2]) { r = d }\n"
    "task over(in x: i32[2], in d: i32[2]) -> (y: i32[2]) { y = x / d }\n"
    "task peek(in r: i32[2], in d: i32[2]) -> (y: i32[2]) { y = r + d }\n"
    "fn spoil(x: i32[2]) {\n"
    "  var unread = x\n"
    "  divide(unread, x - x)\n"  // line 7
    "}\n"
    "let x = [1, 2] as i32[2]\n"
    "let zero = x - x\n";  // line 10

// The places of its errors, "7:3 12:9".
std::string told(const std::string& errors) {
  std::string all;
  for (std::size_t at = errors.find("error E"); at != std::string::npos; at = errors.find("error E", at + 1)) {
    const std::size_t place = errors.find(':', errors.find("-->", at)) + 1;
    if (!all.empty()) all += ' ';
    all += errors.substr(place, errors.find('\n', place) - place);
  }
  return all;
}

void check_on_every_schedule(const std::string& program, const std::string& output, const std::string& places,
                             const RunSettings& given = {}) {
  for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager}) {
    CAPTURE(static_cast<int>(schedule));
    RunSettings settings = given;
    settings.schedule = schedule;
    for (const Ran& ran :
         {run_text(definitions + program, settings), run_text_directly(definitions + program, settings)}) {
      CAPTURE(ran.errors);
      CHECK(ran.output == output);
      CHECK(told(ran.errors) == places);
      CHECK(ran.code == (places.empty() ? 0 : 3));
    }
  }
}

}  // namespace

TEST_CASE("an effect that fails is told of, although nobody reads the version that it makes") {
  check_on_every_schedule("spoil(x)\nprint(x.array)\n", "[1, 2]\n", "7:3");
  check_on_every_schedule("spoil(x)\nif len(args()) == 0 { exit(0) }\nprint(x.array)\n", "", "7:3");
}

TEST_CASE("a native task that writes a place runs, although nobody reads the version that it makes") {
  std::atomic<int> happened{0};
  Natives natives;
  natives.define("count", [&](const NativeCall&) { ++happened; });
  RunSettings settings;
  settings.natives = &natives;
  check_on_every_schedule(
      "task count(inout r: i32[2]) extern \"count\"\n"
      "fn unread(x: i32[2]) {\n  var r = x\n  count(r)\n}\n"
      "unread(x)\nprint(x.array)\n",
      "[1, 2]\n", "", settings);
  CHECK(happened == 6);
}

TEST_CASE("an effect in front of a receive that fails is told of too, and none behind it") {
  check_on_every_schedule(
      "spoil(x)\n"
      "let bad = over(x, zero).y\n"
      "print(bad.array)\n"
      "var r = x\n"
      "divide(r, zero)\n",
      "", "7:3 12:11");
}

TEST_CASE("of an effect that two failures reach the first one in the program is told, whichever ran first") {
  // `seen` is needed before the write, and with it `second`; `first` is not.
  check_on_every_schedule(
      "var p = x\nvar q = x\n"
      "let first = over(x, zero).y\n"
      "let second = over(zero, zero).y\n"
      "let seen = peek(p, second).y\n"
      "keep(q, peek(first, second).y)\n"
      "keep(p, zero)\n"
      "print(p.array)\n"
      "print(seen.array)\n",
      "[0, 0]\n", "13:13 14:14");
}

TEST_CASE("a sweep forgets no effect that is still to be told") {
  RunSettings settings;
  for (const std::size_t sweep : {1, 8192}) {
    CAPTURE(sweep);
    settings.sweep = sweep;
    check_on_every_schedule(
        "var p = x\nvar q = x\n"
        "let first = over(x, zero).y\n"
        "let second = over(zero, zero).y\n"
        "keep(p, first)\n"
        "keep(q, second)\n"
        "for i in 0..3 { print((x + i).array) }\n"
        "print(first.array)\n",
        "[1, 2]\n[2, 3]\n[3, 4]\n", "13:13 14:14", settings);
  }
}

TEST_CASE("bodies read the top level also when the program has ended early") {
  check_on_every_schedule(
      "task more(in r: i32[2]) -> (y: i32[2]) { y = r + zero }\n"
      "var p = x\nkeep(p, more(p).y)\n"
      "if len(args()) == 0 { exit(0) }\nprint(p.array)\n",
      "", "");
}

TEST_CASE("what fails in a session of its own is told, although that ends early") {
  const std::string program =
      "graph g(x: i32[2], zero: i32[2], inout p: i32[2]) -> (y: i32[2]) {\n"
      "  keep(p, over(zero, zero).y)\n"
      "  y = x\n"
      "}\n"
      "fn h(x: i32[2], zero: i32[2]) -> i32[2] {\n"
      "  var p = x\n"
      "  let y = g(x, zero, p).y\n"
      "  let bad = over(x, zero).y\n"
      "  if bad[0].scalar > 0 { return x }\n"
      "  return y\n"
      "}\n"
      "let y = run h(x, zero) on host\n";
  check_on_every_schedule(program, "", "12:11 18:13");
  Workspace prompt;
  const Workspace::Answer answer = prompt.enter(definitions + program);
  CAPTURE(answer.diagnostics);
  CHECK(told(answer.diagnostics) == "12:11 18:13");
}

TEST_CASE("what the graph could not show in front of a failed assert is told, whoever is faster") {
  for (const Part slow : {Part::host, Part::graph}) {
    CAPTURE(static_cast<int>(slow));
    RunSettings settings;
    settings.pause = [slow](Part side) {
      if (side == slow) std::this_thread::sleep_for(50ms);
    };
    const Ran ran = run_text(definitions +
                                 "graph_print(\"x\", over(x, zero).y)\n"
                                 "assert(len(args()) == 3)\n"
                                 "spoil(x)\n",
                             settings);
    CAPTURE(ran.errors);
    CHECK(told(ran.errors) == "11:18 12:1");
    CHECK(ran.code == 3);
  }
}

}  // namespace taskspec::told_failures_test
