// Host and graph program of one run where the moment decides: how they end, what goes between them, and that neither
// the clock nor who is faster decides what is planned.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "interp/control/host_context.hpp"
#include "interp/control/natives.hpp"
#include "interp/control/objects.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::two_programs_test {
using namespace std::chrono_literals;

namespace {

// ---- an end that the graph program hears of too late -----------------------------------------------------

// The graph program comes to where the program may end only when the host has ended there, and the host looks what the
// graph program does only when that waits.
std::function<void(Part)> host_ends_first() {
  struct State {
    std::atomic<bool> host_ended{false}, graph_goes_on{false};
  };
  auto state = std::make_shared<State>();
  auto until = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 2000 && !flag; ++i) std::this_thread::sleep_for(1ms);
  };
  return [state, until](Part side) {
    if (side == Part::graph) {
      until(state->host_ended);
      state->graph_goes_on = true;
    } else {
      state->host_ended = true;
      until(state->graph_goes_on);
      std::this_thread::sleep_for(50ms);
    }
  };
}

}  // namespace

TEST_CASE("what stands before an exit happens, also where the host has ended first [queues]") {
  std::atomic<int> happened{0};
  Natives natives;
  natives.define("count", [&](const NativeCall&) { ++happened; });
  RunSettings settings;
  settings.natives = &natives;
  settings.pause = host_ends_first();
  const Ran ran = run_text(
      "task count(inout r: f32[1]) extern \"count\"\n"
      "var r = fill(f32[1], 1.0)\n"
      "count(r)\n"
      "if len(args()) == 0 { exit(7) }\n"
      "count(r)\n",
      settings);
  CHECK(ran.errors.find("error") == std::string::npos);
  CHECK(ran.code == 7);
  CHECK(happened == 1);
}

TEST_CASE("what fails before an exit is reported, also where the host has ended first [queues]") {
  RunSettings settings;
  settings.pause = host_ends_first();
  const Ran ran = run_text(
      "task divide(inout r: i32[2], in d: i32[2]) { r = r / d }\n"
      "var r = [1, 2] as i32[2]\n"
      "divide(r, r - r)\n"
      "if len(args()) == 0 { exit(0) }\n",
      settings);
  CHECK(ran.errors.find("E5002") != std::string::npos);
  CHECK(ran.code == 3);
}

// ---- what goes to the host -----------------------------------------------------------------------------------

namespace {

std::int64_t futures_in(const Value& value);

std::int64_t futures_in(const std::vector<Value>& values) {
  std::int64_t count = 0;
  for (const Value& value : values) count += futures_in(value);
  return count;
}

std::int64_t futures_in(const Value& value) {
  if (value.is_list()) return futures_in(value.list());
  if (value.is_tuple()) return futures_in(value.tuple().items);
  if (auto* invocation = value.as<Invocation>()) return futures_in(invocation->outputs);
  if (auto* callable = value.as<Callable>()) return futures_in(callable->captures) + futures_in(callable->agent);
  if (auto* agent = value.as<Agent>()) return futures_in(agent->arguments) + futures_in(agent->slots);
  return value.as<Tensor>() ? 1 : 0;
}

Type an_int(RuleContext&) { return Type::Kind::integer; }
Value run_futures(HostContext&, std::span<const Value> values) { return Value(futures_in(values[0])); }

constexpr Operand any_operand[] = {{"value", OperandKind::value}};
// Like `len`: of a value of the graph program it is asked what can be known without running it.
constinit const Builtin futures = BuiltinFields{.name = "futures",
                                                .operands = any_operand,
                                                .doc = "Futures inside of the value.",
                                                .example = "-",
                                                .type = an_int,
                                                .effect = Effect::host,
                                                .run = run_futures,
                                                .runs_in = RunsIn::either};
// Like `save`: contents are brought to it.
constinit const Builtin futures_there = BuiltinFields{.name = "futures_there",
                                                      .operands = any_operand,
                                                      .doc = "Futures inside of the contents of the value.",
                                                      .example = "-",
                                                      .type = an_int,
                                                      .effect = Effect::host,
                                                      .run = run_futures};

Toolbox tools_with_futures() {
  static const std::vector<const Builtin*> table = [] {
    const Toolbox& standard = standard_toolbox();
    std::vector<const Builtin*> all(standard.builtins.all().begin(), standard.builtins.all().end());
    all.insert(all.end(), {&futures, &futures_there});
    std::sort(all.begin(), all.end(), [](const Builtin* a, const Builtin* b) { return a->name < b->name; });
    return all;
  }();
  return {standard_toolbox().ops, BuiltinTable(table)};
}

}  // namespace

TEST_CASE("a handle stays with the thread that records, whatever it stands in") {
  const Toolbox tools = tools_with_futures();
  for (const std::string what : {"futures", "futures_there"})
    for (const std::string value : {"two(x)", "[two(x), two(x)]", "[(two(x), 1)]", "[[two(x)], [two(x)]]", "a"}) {
      const std::string text =
          "task two(in x: f32[N]) -> (a: f32[N], b: f32[N]) { a = x + 1.0; b = x * 2.0 }\n"
          "let x = [1.0, 2.0] as f32[2]\n"
          "agent Sum { state s: f32[2] = zero()\n task add(in x: f32[2]) -> (y: f32[2]) { s = s + x; y = s } }\n"
          "let a = Sum()\nlet unused = a.add(x)\n"
          "let v = " +
          value + "\nprint(" + what + "(v))\n";
      CAPTURE(text);
      const Ran ran = run_text(text, {}, tools);
      if (ran.code == 1) continue;  // not a value that may stand there
      CHECK(ran.errors == "");
      CHECK(ran.output == "0\n");
    }
}

TEST_CASE("a list of invocations has its length and its contents on the host") {
  const Ran ran = run_text(
      "task two(in x: f32[N]) -> (a: f32[N], b: f32[N]) { a = x + 1.0; b = x * 2.0 }\n"
      "let x = [1.0, 2.0] as f32[2]\n"
      "let l = [two(x), two(x)]\n"
      "print(len(l))\n"
      "for i in l { print(i) }\n"
      "print(l[0].a.array, l[1].b.array)\n");
  CHECK(ran.errors == "");
  CHECK(ran.output.find("2\n") == 0);
  CHECK(ran.output.find("[2, 3] [2, 4]\n") != std::string::npos);
}

// ---- batches ----------------------------------------------------------------------------------------------------

namespace {

struct Figures {
  std::uint64_t plans, chains, dispatches, peak, plan_peak;
  friend auto operator<=>(const Figures&, const Figures&) = default;
};

Figures cut_of(const Ran& ran) {
  return {ran.report.plans, ran.report.chains, ran.report.dispatches, ran.report.memory.peak_bytes,
          ran.report.plan_peak};
}

// One side is slow before some messages, other ones in each run.
std::function<void(Part)> delays(std::uint64_t seed) {
  if (seed == 0) return {};
  return [seed, turns = std::make_shared<std::array<std::uint64_t, 2>>()](Part side) {
    std::uint64_t& turn = (*turns)[side == Part::host ? 0 : 1];
    const bool slow = seed % 2 == (side == Part::host ? 0 : 1);
    if (slow && (++turn * seed) % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200 + 100 * seed));
  };
}

}  // namespace

TEST_CASE("the clock does not decide what the batches of a session are") {
  const std::string programs[] = {
      // A number of the host in each turn.
      "var x = fill(f32[4], 1.0)\nfor i in 0..300 { x = x * parse_float(\"0.5\") + 1.0 }\nprint(x.array)\n",
      // Where the program may end in each turn.
      "var x = fill(f32[4], 1.0)\nfor i in 0..300 {\n  x = x * 0.5\n  assert(len(args()) == 0)\n}\nprint(x.array)\n",
      // What is shown on the way.
      "var x = fill(f32[4], 1.0)\nfor i in 0..300 {\n  x = x + parse_float(\"1.0\")\n"
      "  if i % 50 == 0 { graph_print(\"x\", x) }\n}\nprint(x.array)\n",
      // Large tensors and tasks of which nobody knows how long they take.
      "task slow(in x: f32[N]) -> (y: f32[N]) { y = x\n  for i in 0..10 { y = y + 1.0 } }\n"
      "var x = fill(f32[20000], 1.0)\nvar y = fill(f32[2], 0.0)\nfor i in 0..40 {\n"
      "  x = x * parse_float(\"0.5\")\n  y = slow(y).y * parse_float(\"0.5\")\n}\nprint(x.sum().scalar, y.array)\n"};
  for (const std::string& text : programs) {
    CAPTURE(text);
    std::set<Figures> cuts;
    std::set<std::string> outputs;
    for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
      RunSettings settings;
      settings.threads = 1;
      settings.capacity = seed == 4 ? 1 : 64;
      settings.pause = delays(seed);
      const Ran ran = run_text(text, settings);
      CHECK(ran.errors == "");
      cuts.insert(cut_of(ran));
      outputs.insert(ran.output);
    }
    CHECK(cuts.size() == 1);
    CHECK(outputs.size() == 1);
  }
}

TEST_CASE("what the graph prints is seen soon, long before a window is full") {
  const Ran ran = run_text_directly(
      "var x = fill(f32[1], 1.0)\n"
      "graph_print(\"early\", x)\n"
      "var n = 0\n"
      "for i in 0..40000 { n = n + 1 }\n"
      "print(\"late\")\n");
  CHECK(ran.errors == "");
  const std::size_t early = ran.output.find("early"), late = ran.output.find("late");
  REQUIRE(early != std::string::npos);
  CHECK(early < late);
}

TEST_CASE("a loop that hears of its host in each turn makes few plans") {
  const Ran ran = run_text(
      "var x = fill(f32[4], 1.0)\n"
      "for i in 0..2000 { x = x * parse_float(\"0.5\") + 1.0 }\n"
      "print(x.array)\n");
  CHECK(ran.errors == "");
  CHECK(ran.report.plans <= 8);
  CHECK(ran.report.dispatches <= 1000);  // not one for each turn
}

}  // namespace taskspec::two_programs_test
