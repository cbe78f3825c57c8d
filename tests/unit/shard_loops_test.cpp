// Loops on shards whose launches are hashed and analysed a whole batch at once: what is compared is still each call.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/unit/programs.hpp"

namespace taskspec::shard_loops_test {

namespace {

// From the turn `last` on one number is another one on each shard: it is made of a file that nobody reads twice alike,
// and comes to the graph once, so that the loop waits for nobody.
constexpr std::string_view parting = R"(
fields Cell { a: f64 }
task first(inout c: Cell[_].{a}, in t: int, in w: float) { for i in c { c[i].a = c[i].a * 0.5 + w * t } }
task second(inout c: Cell[_].{a}, in t: int, in w: float) { for i in c { c[i].a = c[i].a * 0.5 + w * t } }
fn other() -> int {
  let text = read("/proc/sys/kernel/random/uuid")
  var n = 1
  for c in 0..36 { n = n * 3 % 100003 + len(split(text[c..c + 1], "a")) + 2 * len(split(text[c..c + 1], "3")) }
  return n
}
fn turns(last: int, n: int, m: int) -> float {
  let cells = region Cell[6]
  let parts = blocks(cells, 6)
  fill(cells.a, 1.0)
  for t in 0..4000 {
    launch first(parts[i], t + n * (t / last), 0.5) for i in 0..6
    launch second(parts[i], t + m * (t / last), 0.25) for i in 0..6
  }
  return cells.a.sum(0).scalar
}
fn of_first(last: int) -> float { return turns(last, other(), 0) }
fn of_second(last: int) -> float { return turns(last, 0, other()) }
)";

}  // namespace

// Far from the end: a shard that hears of a difference late has not gone on for longer than calls are kept.
TEST_CASE("a number that differs from one turn of a long loop on is found, and its call named [D17]") {
  if (!std::ifstream("/proc/sys/kernel/random/uuid")) return;
  constexpr int calls_before = 4;  // start, region, partition, fill
  for (const int turn : {7, 500, 2016, 2033, 3999})
    for (const bool of_first : {true, false}) {
      CAPTURE(turn);
      CAPTURE(of_first);
      const Ran ran = run_text(std::string(parting) + "print((run of_" + (of_first ? "first(" : "second(") +
                               std::to_string(turn) + ") on mpi(shards: 3)).value)\n");
      CHECK(ran.code == 3);
      const int call = calls_before + 2 * turn + (of_first ? 1 : 2);
      const std::string wanted = "error E6001: control determinism violated at call " + std::to_string(call) +
                                 " 'launch " + (of_first ? "first" : "second") + "'";
      CHECK_MESSAGE(ran.errors.starts_with(wanted), ran.errors);
      CHECK_MESSAGE(ran.errors.find(" value 1 ") != std::string::npos, ran.errors);
      CHECK(ran.output.empty());
    }
}

// What others wait for comes in time: here before a batch is full.
TEST_CASE("calls of a loop that is slow on the host are made as it goes on [D16]") {
  const std::string text = std::string(parting) + R"(
fn rest(count: int) -> int {
  var sum = 0
  for k in 0..count { sum = (sum + k) % 7 }
  return sum
}
fn slowly(count: int) -> float {
  let cells = region Cell[6]
  let parts = blocks(cells, 6)
  fill(cells.a, 1.0)
  for t in 0..200 {
    launch first(parts[i], t + rest(count * (t / 195)), 0.5) for i in 0..6
    launch second(parts[i], t, 0.25) for i in 0..6
  }
  return cells.a.sum(0).scalar
}
)";
  const auto run = [&](const std::string& on) {
    const Ran ran = run_text(text + "print((run slowly(2000000) on " + on + ").value)\n");
    CHECK_MESSAGE(ran.errors.empty(), ran.errors);
    return ran.output;
  };
  CHECK(run("mpi(shards: 2)") == run("host"));
}

}  // namespace taskspec::shard_loops_test
