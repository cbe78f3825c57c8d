// Segments, round trips and advice: how much the graph program does between two communications, and what would save
// some.
#include "tests/unit/cut_reported.hpp"

namespace taskspec::cut_advice_test {
using namespace taskspec::testing;

TEST_CASE("segments end where something is sent or received [G12]") {
  const Reported reported(R"(
graph three(x: f32[N]) -> (y: f32[N]) { y = (x + 1.0) * 2.0 - 3.0 }
task one(in x: f32[N]) -> (y: f32[N]) { y = x * x + x }
fn quiet(x: f32[N]) -> f32[N] { return x + x + x }
fn loud(x: f32[N]) -> f32[N] {
  print(x.sum(0).scalar)
  return x
}
fn all(x: f32[N]) -> f32[N] {
  var y = three(one(x).y).y                // 3 + 1
  for i in 0..3 { y = quiet(y) + 1.0 }      // a loop without messages: 2 more
  print(y.max(0).scalar)                    // and this
  y = y * 2.0
  y = loud(y)                               // it sends
  for i in 0..3 {
    y = y + 1.0
    print(y.sum(0).scalar)
  }
  return y
}
print(all([1.0, 2.0] as f32[2]).array)
)");
  const CutMetrics& metrics = reported.function("all").metrics;
  REQUIRE(metrics.segments.size() == 3);
  CHECK(metrics.segments[0].operations == 7);
  CHECK(metrics.segments[0].loops == 0);
  CHECK(metrics.segments[1].operations == 1);
  CHECK(metrics.segments[2].operations == 2);
  CHECK(metrics.segments[2].loops == 1);
  CHECK(metrics.operations() == 10);
  CHECK(metrics.largest() == 7);
  CHECK(metrics.receives == 2);
  CHECK(metrics.receives_each_turn == 1);
  CHECK(metrics.round_trips == 0);
  const std::string text = reported.text(80, true);
  CHECK_MESSAGE(contains(text, "3 segments (1 each turn), 10 operations: mean 3.3 in a segment, largest 7"), text);
  CHECK_MESSAGE(contains(text, "0 sends, 2 receives (1 each turn), 0 round trips"), text);
}

TEST_CASE("a round trip is a receive that decides or feeds a later send [G12]") {
  // `ask` is host code that the graph program cannot run.
  auto trips = [](const std::string& body) {
    const Reported reported(
        "fn ask(v: float) -> float {\n  print(v)\n  return v + 1.0\n}\nfn f(x: f32[2]) -> f32[2] {\n" + body +
        "}\nprint(f([1.0, 2.0] as f32[2]).array)\n");
    return reported.function("f").metrics.round_trips;
  };
  CHECK(trips("  let s = x.sum(0).scalar\n  return x * ask(s)\n") == 1);
  CHECK(trips("  let y = x * ask(1.0)\n  print(y.sum(0).scalar)\n  return y\n") == 0);  // the send comes first
  CHECK(trips("  var y = x\n  if ask(x.sum(0).scalar) > 2.0 { y = y * ask(1.0) }\n  return y\n") == 1);  // decides
  // In a loop the next turn counts as well.
  CHECK(trips("  var y = x\n  var k = 1.0\n  for i in 0..3 {\n    y = y * k\n    k = ask(y.sum(0).scalar)\n  }\n"
              "  return y\n") == 1);
  CHECK(trips("  var y = x\n  var k = 1.0\n  for i in 0..3 {\n    y = y * ask(k)\n    print(y.sum(0).scalar)\n  }\n"
              "  return y\n") == 0);
  CHECK(trips("  var y = x\n  for i in 0..3 {\n    y = y * ask(2.0)\n    if ask(y.sum(0).scalar) > 9.0 { break }\n  }\n"
              "  return y\n") == 1);
  // What ends a loop decides nothing after it.
  CHECK(
      trips(
          "  var y = x\n  while true {\n    y = y + 1.0\n    print(y.sum(0).scalar)\n    if ask(y.max(0).scalar) > 9.0 "
          "{ break }\n  }\n  return y * ask(3.0)\n") <= 1);
}

TEST_CASE("advice is given where an edit would save a wait, and says which [G12]") {
  auto advice = [](const std::string& text) {
    std::string all;
    for (const CutAdvice& one : Reported(text).report.advice) all += one.text + "\n";
    return all;
  };
  const std::string decides = advice(R"(
fn enough(v: float) -> bool {
  print(v)
  return v < 1.0
}
fn halve(x: f32[1]) -> f32[1] {
  var y = x
  while !enough(y.scalar) { y = y * 0.5 }
  return y
}
print(halve([9.0] as f32[1]).scalar)
)");
  CHECK_MESSAGE(contains(decides, "receive at line 8 forces the loop at line 8 to synchronise each step: it decides"),
                decides);
  CHECK_MESSAGE(contains(decides, "the host has work in each turn; decide only every few turns"), decides);
  CHECK_MESSAGE(!contains(decides, "move the loop into a graph"), decides);
  const std::string made = advice(R"(
fn host_work(v: float) -> float { return v * 2.0 + 1.0 }
fn grow(x: f32[2]) -> f32[2] {
  var y = x
  for i in 0..3 { y = y + host_work(y.sum(0).scalar) }
  return y
}
print(grow([1.0, 2.0] as f32[2]).array)
)");
  CHECK_MESSAGE(contains(made, "what the host makes of it is sent back"), made);
  const std::string gathered = advice(R"(
fn watch(x: f32[2]) -> f32[2] {
  var y = x
  for i in 0..3 {
    y = y + 1.0
    print(y.sum(0).scalar)
  }
  return y
}
print(watch([1.0, 2.0] as f32[2]).array)
)");
  CHECK_MESSAGE(contains(gathered, "nothing in the graph depends on it"), gathered);
  CHECK_MESSAGE(contains(gathered,
                         "keep the tensors in a list (kept = kept + [y.sum(0)]), and receive after the loop (map(kept, "
                         "t => t.scalar))"),
                gathered);
  CHECK(advice("print(([1.0, 2.0] as f32[2] + 1.0).sum(0).scalar)\n").empty());
  const std::string trips = advice(R"(
fn grow(x: f32[2]) -> f32[2] {
  var y = x
  for s in args() {
    print(s)
    y = y * 2.0
  }
  return y
}
print(grow([1.0, 2.0] as f32[2]).array)
)");
  CHECK_MESSAGE(trips ==
                    "send at line 4 tells the graph how long the loop is: with constant bounds the graph counts by "
                    "itself\n",
                trips);
}

TEST_CASE("a loop that only the graph decides and that waits for its own tensors is told [G12]") {
  auto advice = [](const std::string& body, const std::string& after) {
    const Reported reported("fn f(s: f32[1]) -> f32[1] {\n  var x = s\n  while true {\n    x = x * 0.5\n" + body +
                            "  }\n  return x\n}\n" + after);
    std::string all;
    for (const CutAdvice& one : reported.report.advice) all += one.text + "\n";
    return all;
  };
  const std::string shown = "print(f([8.0] as f32[1]).scalar)\n";
  CHECK(advice("    if x.scalar < 0.1 { break }\n", shown) ==
        "the graph waits for what it tests at line 5 in each turn of the loop at line 3: move the loop into a graph, "
        "where `while` and `if` test a bool tensor\n");
  const std::string talks = advice("    print(x.sum(0).scalar)\n    if x.scalar < 0.1 { break }\n", shown);
  CHECK_MESSAGE(!contains(talks, "move the loop"), talks);
}

TEST_CASE("whether the program goes on to what the graph shows is a round trip [G12]") {
  const std::string start = "var x = [1.0] as f32[1]\nfor i in 0..100 {\n  x = x * 2.0\n";
  const Reported ends(start + "  graph_print(\"x\", x)\n  if x.scalar > 10.0 {\n    print(i)\n    exit(2)\n  }\n}\n");
  CHECK(ends.report.total.round_trips_each_turn == 1);
  REQUIRE(ends.report.advice.size() == 1);
  CHECK_MESSAGE(contains(ends.report.advice[0].text, "whether the program goes on decides what the graph may show"),
                ends.report.advice[0].text);
  const Reported asserts(start + "  graph_print(\"x\", x)\n  assert(x.scalar < 10.0)\n}\n");
  CHECK(asserts.report.total.round_trips == 1);
  const Reported called("fn stop(v: float) {\n  if v > 10.0 { exit(2) }\n}\n" + start +
                        "  graph_print(\"x\", x)\n  stop(x.scalar)\n}\n");
  CHECK(called.report.total.round_trips == 1);
  // Nothing is shown after it.
  const Reported before("var x = [1.0] as f32[1] * 2.0\ngraph_print(\"x\", x)\nassert(x.scalar < 10.0)\n");
  CHECK(before.report.total.round_trips == 0);
  // What is only printed decides nothing.
  const Reported shows("if len(args()) > 3 { exit(2) }\n" + start + "  graph_print(\"x\", x)\n  print(x.scalar)\n}\n");
  CHECK(shows.report.total.round_trips == 0);
}

TEST_CASE("what stands in a function that is repeated is counted for each turn [G12]") {
  const std::string body = "  print(x.sum(0).scalar)\n  return x * 2.0\n}\n";
  auto each_turn = [](const std::string& text) {
    const Reported reported(text);
    const CutMetrics& metrics = reported.function("f").metrics;
    CHECK(metrics.receives == 1);
    CHECK(contains(reported.text(100), "f:0 <-- to the host, each turn") == (metrics.receives_each_turn == 1));
    return metrics.receives_each_turn;
  };
  const std::string f = "fn f(x: f32[1]) -> f32[1] {\n" + body, one = "([1.0] as f32[1])";
  CHECK(each_turn(f + "print(f" + one + ".scalar)\n") == 0);
  CHECK(each_turn(f + "var y = [1.0] as f32[1]\nfor i in 0..3 { y = f(y) }\nprint(y.scalar)\n") == 1);
  CHECK(each_turn(f + "fn g(x: f32[1]) -> f32[1] { return f(x) }\nvar y = [1.0] as f32[1]\nfor i in 0..3 { y = g(y) }\n"
                      "print(y.scalar)\n") == 1);
  CHECK(each_turn(f + "let all = map([[1.0] as f32[1], [2.0] as f32[1]], f)\nprint(all[1].scalar)\n") == 1);
  CHECK(each_turn("fn f(x: f32[1], n: int) -> f32[1] {\n  if n == 0 { return x }\n  print(x.sum(0).scalar)\n"
                  "  return f(x * 2.0, n - 1)\n}\nprint(f([1.0] as f32[1], 3).scalar)\n") == 1);
}

TEST_CASE("a received value that decides a `continue` counts by what that skips [G12]") {
  const std::string ask = "fn ask(v: float) -> float {\n  print(v)\n  return v + 1.0\n}\n";
  auto advice = [&](const std::string& body) {
    std::string all;
    const Reported reported(ask + "fn f(x: f32[2]) -> f32[2] {\n  var y = x\n" + body +
                            "  return y\n}\nprint(f([1.0, 2.0] as f32[2]).array)\n");
    for (const CutAdvice& one : reported.report.advice) all += one.text + "\n";
    return all;
  };
  // It skips the counting that ends the loop.
  const std::string counts = advice(R"(  var k = 0.0
  while k < 3.0 {
    y = y * 2.0
    let s = y.sum(0).scalar
    print(s)
    if s > 10.0 { continue }
    k += 1.0
  }
)");
  CHECK_MESSAGE(contains(counts, "it decides when the loop ends"), counts);
  CHECK_MESSAGE(!contains(counts, "nothing in the graph"), counts);
  // It skips what the next turn of the outer loop sends.
  const std::string later = advice(R"(  var t = 1.0
  for i in 0..3 {
    y = y * t
    for j in 0..4 {
      if y.sum(0).scalar > 10.0 { continue }
      t = ask(t)
    }
  }
)");
  CHECK_MESSAGE(contains(later, "what the host makes of it is sent back"), later);
  CHECK_MESSAGE(!contains(later, "nothing in the graph"), later);
  // It skips a print only.
  const std::string shows = advice(R"(  for i in 0..3 {
    y = y * 2.0
    let s = y.sum(0).scalar
    if s > 10.0 { continue }
    print(s)
  }
)");
  CHECK_MESSAGE(contains(shows, "nothing in the graph depends on it"), shows);
}

TEST_CASE("what is handed to a function that sends it is a round trip [G12]") {
  const Reported reported(R"(
fn ask(v: float) -> float {
  print(v)
  return v + 1.0
}
fn scaled(x: f32[2], v: float) -> f32[2] { return x * ask(v) }
fn f(x: f32[2]) -> f32[2] {
  var y = x
  for i in 0..3 { y = scaled(y, y.sum(0).scalar) }
  return y
}
print(f([1.0, 2.0] as f32[2]).array)
)");
  CHECK(reported.function("f").metrics.round_trips_each_turn == 1);
  REQUIRE(reported.report.advice.size() == 1);
  CHECK_MESSAGE(contains(reported.report.advice[0].text, "is sent back"), reported.report.advice[0].text);
}

TEST_CASE("two receives in one line are one advice") {
  const Reported reported(R"(
fn watch(x: f32[2]) -> f32[2] {
  var y = x
  for i in 0..3 {
    y = y + 1.0
    print(y.sum(0).scalar); if i > 0 { print(y.max(0).scalar) }
  }
  return y
}
print(watch([1.0, 2.0] as f32[2]).array)
)");
  CHECK(reported.function("watch").metrics.receives_each_turn == 2);
  CHECK(reported.report.advice.size() == 1);
}

}  // namespace taskspec::cut_advice_test
