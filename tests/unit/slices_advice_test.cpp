// Segments, round trips and advice: how much the graph program does between two communications, and what would save
// some.
#include "tests/unit/slices_reported.hpp"

using namespace taskspec;
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
  const SliceMetrics& metrics = reported.function("all").metrics;
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
    for (const SliceAdvice& one : Reported(text).report.advice) all += one.text + "\n";
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

TEST_CASE("a received value that decides a `continue` counts by what that skips [G12]") {
  const std::string ask = "fn ask(v: float) -> float {\n  print(v)\n  return v + 1.0\n}\n";
  auto advice = [&](const std::string& body) {
    std::string all;
    const Reported reported(ask + "fn f(x: f32[2]) -> f32[2] {\n  var y = x\n" + body +
                            "  return y\n}\nprint(f([1.0, 2.0] as f32[2]).array)\n");
    for (const SliceAdvice& one : reported.report.advice) all += one.text + "\n";
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
