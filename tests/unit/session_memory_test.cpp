// Long programs run in the memory of what they can still name: sessions run in windows and give back what is settled,
// and nobody can tell from values, names or errors.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "interp/host/host_backend.hpp"
#include "interp/open_session.hpp"
#include "ir/base/retiring_table.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::session_memory_test {

namespace {

constexpr Schedule all_schedules[] = {Schedule::push, Schedule::pull, Schedule::eager};

struct Case {
  std::string name;
  std::string text;  // {} is the number of turns
};

const Case cases[] = {
    {"a loop without a receive", "var x = [0.0, 1.0] as f64[2]\nfor i in 0..{} {{ x = x + 1.0 }}\nprint(x.array)\n"},
    {"a receive in every turn",
     "var x = [0.0] as f64[1]\nvar s = 0.0\nfor i in 0..{} {{\n  x = x + 1.0\n  s = s + x.scalar\n}}\nprint(s)\n"},
    {"other numbers in every turn", "var x = [0.0] as f64[1]\nfor i in 0..{} {{ x = x + i * 0.5 }}\nprint(x.scalar)\n"},
    {"a batch from the host in every turn",
     "var x = fill(f64[40], 0.0)\nvar s = 0.0\nfor i in 0..{} {{\n  let batch = fill(f64[40], 1.0).array\n"
     "  x = x + (batch as f64[40])\n  if i % 16 == 0 {{ s = s + x.sum(0).scalar }}\n}}\nprint(s, x.array)\n"},
    {"a place",
     "task bump(inout r: f64[N], in d: f64[N]) {{ r += d }}\nvar r = [0.0, 0.0] as f64[2]\n"
     "let d = [1.0, 2.0] as f64[2]\nfor i in 0..{} {{ bump(r, d) }}\nprint(r.array)\n"},
    {"a place of each turn's own",
     "task bump(inout r: f64[N]) -> (t: f64[1]) {{ r = r + 1.0; t = r.sum(0) }}\n"
     "fn turn(x: f64[2]) -> f64[2] {{ var own = x; bump(own); return own * 0.5 }}\n"
     "var x = [0.0, 4.0] as f64[2]\nfor i in 0..{} {{ x = turn(x) }}\nprint(x.array, x)\n"},
    {"an agent's slots",
     "agent Sum(k: int) {{\n  state s: f64[2] = zero()\n"
     "  task add(in x: f64[2]) -> (y: f64[2]) {{ s = s + x * k; y = s }}\n}}\n"
     "let a = Sum(2)\nvar x = [1.0, 0.5] as f64[2]\nfor i in 0..{} {{ x = a.add(x).y * 0.25 }}\nprint(x.array)\n"},
    {"an agent of each turn's own",
     "agent Scale(k: float) {{\n  task apply(in x: f64[2]) -> (y: f64[2]) {{ y = x * k }}\n}}\n"
     "var x = [1.0, 0.5] as f64[2]\nfor i in 0..{} {{ let a = Scale(i * 1.0); x = a.apply(x).y - x "
     "}}\nprint(x.array)\n"},
    {"calls in calls",
     "fn inner(x: f64[2]) -> f64[2] {{ return x * 0.5 }}\nfn outer(x: f64[2]) -> f64[2] {{ return inner(x) + 1.0 }}\n"
     "var x = [1.0, 0.5] as f64[2]\nfor i in 0..{} {{ x = outer(x) }}\nprint(x.array, x)\n"},
    {"graph output",
     "var x = [0.0] as f64[1]\nfor i in 0..{} {{\n  x = x + 1.0\n"
     "  if i % 100 == 0 {{ graph_print(\"x\", x) }}\n}}\ngraph_print(\"end\", x)\n"},
    {"work that nobody sees",
     "var x = [0.0] as f64[1]\nvar y = x\nfor i in 0..{} {{\n  x = x + 1.0\n  y = tanh(x)\n}}\n"
     "print(x.scalar, y.scalar)\n"},
};

std::string text_of(const Case& what, std::size_t turns) { return fmt::format(fmt::runtime(what.text), turns); }

RunSettings settings_of(Schedule schedule, std::size_t window, std::size_t sweep, bool keep) {
  RunSettings settings;
  settings.schedule = schedule;
  settings.threads = 1;
  settings.window = window;
  settings.sweep = sweep;
  settings.keep_graph = keep;
  return settings;
}

}  // namespace

TEST_CASE("a table that gives entries back keeps positions and what it was told to keep") {
  RetiringTable<std::string> table;
  for (int i = 0; i < 10; ++i) table.push_back(std::to_string(i));
  table.retire([](std::size_t at) { return at % 4 == 0; });
  CHECK(table.size() == 10);
  CHECK(table.held() == 3);
  CHECK(table.young() == 0);
  table.push_back("10");
  CHECK(table[8] == "8");
  CHECK(table[10] == "10");
  CHECK(!table.contains(7));
  CHECK(!table.contains(11));
  table.retire([](std::size_t at) { return at >= 8; });
  CHECK(table.held() == 2);
  CHECK(table[10] == "10");
  CHECK(table.find(0) == nullptr);
  table.resize(13);
  CHECK(table.size() == 13);
  CHECK(table.held() == 4);
}

TEST_CASE("sessions that forget, in windows or not, do the same on every schedule") {
  for (const Case& what : cases) {
    CAPTURE(what.name);
    const std::string text = text_of(what, 300);
    for (const Schedule schedule : all_schedules) {
      CAPTURE(static_cast<int>(schedule));
      const Ran kept = run_text_directly(text, settings_of(schedule, 0, 1, true));
      REQUIRE_MESSAGE(kept.code == 0, kept.errors);
      for (const std::size_t window : {0, 1, 7, 100})
        for (const std::size_t sweep : {1, 40}) {
          CAPTURE(window);
          CAPTURE(sweep);
          const RunSettings settings = settings_of(schedule, window, sweep, false);
          for (const Ran& ran : {run_text(text, settings), run_text_directly(text, settings)}) {
            CHECK_MESSAGE(ran.errors == "", ran.errors);
            CHECK(ran.output == kept.output);
            CHECK(ran.report.memory.allocations == ran.report.memory.frees);
          }
        }
    }
  }
}

TEST_CASE("what a session holds does not grow with the turns of a loop") {
  constexpr std::size_t turns = 20'000;
  for (const Case& what : cases) {
    CAPTURE(what.name);
    const std::string text = text_of(what, turns);
    const Ran forgot = run_text(text, settings_of(Schedule::push, 512, 1024, false));
    REQUIRE_MESSAGE(forgot.code == 0, forgot.errors);
    CHECK(forgot.report.held < 16'000);  // windows and tables between two sweeps
  }
  const Ran kept = run_text(text_of(cases[0], turns), settings_of(Schedule::push, 512, 1024, true));
  CHECK(kept.report.held > 2 * turns);
}

TEST_CASE("a window ends at the turn of the outermost loop that fits in") {
  Window window(1000);
  auto site = [](std::uint32_t at) { return Span{SourceId(0), at, at + 1}; };
  std::size_t pending = 0, turn = 0;
  std::vector<std::size_t> cuts;  // lengths of windows
  auto task = [&](std::uint32_t at) {
    if (window.ends(site(at), pending)) {
      cuts.push_back(pending);
      pending = 0;
      window.begin();
    }
    ++pending;
  };
  for (; turn < 100; ++turn) {  // 71 tasks a turn
    for (int inner = 0; inner < 70; ++inner) task(7);
    task(9);
  }
  REQUIRE(cuts.size() >= 5);
  for (std::size_t i = 1; i < cuts.size(); ++i) CHECK(cuts[i] == 15 * 71);
  cuts.clear();
  for (std::uint32_t at = 100; at < 5000; ++at) task(at);  // a text without a loop
  REQUIRE(cuts.size() >= 4);
  for (std::size_t i = 1; i < cuts.size(); ++i) CHECK(cuts[i] == 1000);
}

TEST_CASE("windows begin where the loop does, so that it has few plans") {
  const std::string body =
      "var x = [0.5, 1.0] as f64[2]\nvar y = x\nfor i in 0..{} {{\n  x = x * 0.5\n  y = tanh(x) + y\n  x = x + y\n}}\n"
      "print(x.sum(0).scalar)\n";
  const Ran ran = run_text(fmt::format(fmt::runtime(body), 5000), settings_of(Schedule::push, 100, 1000, false));
  CHECK(ran.code == 0);
  CHECK(ran.report.plans <= 4);      // the first, those of the loop, the last
  CHECK(ran.report.tasks > 19'000);  // and they ran in windows of that size
  CHECK(ran.report.plan_peak < 10'000);
  const std::string nested =
      "var x = [0.5, 1.0] as f64[2]\nfor i in 0..{} {{\n  for j in 0..13 {{ x = x * 0.5 + 0.25 }}\n  x = tanh(x)\n}}\n"
      "print(x.sum(0).scalar)\n";
  const Ran both = run_text(fmt::format(fmt::runtime(nested), 1000), settings_of(Schedule::push, 200, 1000, false));
  CHECK(both.code == 0);
  CHECK(both.report.plans <= 4);
}

TEST_CASE("handles kept across sweeps are as good as new") {
  const std::string text =
      "task inc(in x: f64[N]) -> (y: f64[N]) {{ y = x + 1.0 }}\n"
      "let zero = [0.0] as f64[1]\nlet first = inc(inc(zero).y)\nvar x = first.y\nvar kept = [first.y]\n"
      "for i in 0..{0} {{\n  x = inc(x).y\n  if i % ({0} / 4) == 0 {{ kept = kept + [x] }}\n}}\n"
      "print(first)\nprint(x)\nprint(x.scalar)\nfor k in kept {{ print(k, k.scalar) }}\nprint((first.y + "
      "kept[2]).scalar)\n";
  const std::string program = fmt::format(fmt::runtime(text), 3000);
  const Ran kept = run_text_directly(program, settings_of(Schedule::push, 0, 1, true));
  REQUIRE_MESSAGE(kept.code == 0, kept.errors);
  CHECK(kept.output.find("<inc#3001.y : f64[1], ") != std::string::npos);
  for (const Schedule schedule : all_schedules) {
    const Ran forgot = run_text_directly(program, settings_of(schedule, 50, 10, false));
    CHECK(forgot.errors == "");
    CHECK(forgot.output == kept.output);
    CHECK(forgot.report.held < 4000);
    CHECK(run_text(program, settings_of(schedule, 50, 10, false)).output == kept.output);
  }
}

TEST_CASE("a failure is told with the whole way from its origin, also after sweeps") {
  const std::string text =
      "task divide(in x: i32[N], in d: i32[N]) -> (q: i32[N]) {{ q = x / d }}\n"
      "task next(in x: i32[N]) -> (y: i32[N]) {{ y = x + 1 }}\nfn deep(x: i32[1]) -> i32[1] {{ return next(x).y }}\n"
      "var x = [1] as i32[1]\nvar good = x\nfor i in 0..200 {{ x = deep(x); good = deep(good) }}\n"
      "x = divide(x, [0] as i32[1]).q\nfor i in 0..{} {{ x = deep(x); good = deep(good) }}\n"
      "print(good.scalar)\nprint(x.scalar)\n";
  for (const int after : {0, 1, 7, 400}) {
    const std::string program = fmt::format(fmt::runtime(text), after);
    const Ran kept = run_text_directly(program, settings_of(Schedule::push, 0, 1, true));
    CHECK(kept.code == 3);
    CHECK(kept.errors.find("divide#0") != std::string::npos);
    for (const Schedule schedule : all_schedules)
      for (const std::size_t sweep : {1, 30}) {
        const Ran forgot = run_text(program, settings_of(schedule, 20, sweep, false));
        CHECK(forgot.code == 3);
        CHECK(forgot.output == kept.output);
        CHECK(forgot.errors == kept.errors);
      }
  }
}

TEST_CASE("failures that nobody names any more leave nothing behind; the first with an effect is told") {
  const std::string text =
      "task scale(inout r: i32[N], in d: i32[N]) { r = r / d }\nvar s = [1] as i32[1]\nlet zero = [0] as i32[1]\n"
      "for i in 0..20000 {\n  let bad = [1] as i32[1] / zero\n  let worse = bad + 1\n  s = s + 1\n"
      "  if i == 30 { var r = s; scale(r, zero) }\n}\nprint(s.scalar)\n";
  const Ran ran = run_text(text, settings_of(Schedule::push, 100, 1000, false));
  CHECK_MESSAGE(ran.output == "20001\n", ran.errors);
  CHECK(ran.code == 3);
  CHECK(ran.errors.find("scale#0") != std::string::npos);
  CHECK(ran.report.held < 5000);
}

TEST_CASE("small numbers are one constant while somebody needs them, batches go with their last reader") {
  const std::string text =
      "var x = fill(f64[1000], 0.0)\nfor i in 0..{} {{\n  let batch = fill(f64[1000], 2.0).array\n  x = x + (batch as "
      "f64[1000])\n}}\n"
      "print(x[0].scalar)\n";
  const Ran ran = run_text(fmt::format(fmt::runtime(text), 2000), settings_of(Schedule::push, 50, 100, false));
  CHECK(ran.output == "4000\n");
  CHECK(ran.report.memory.peak_bytes < 2000 * 1000 * sizeof(double) / 8);  // a window of batches, not all
}

TEST_CASE("what nobody needs after a run is written over: a slot changes in its own bytes") {
  const std::string text =
      "agent Big {\n  state s: f32[1000000] = zero()\n"
      "  task step(in x: f32[1]) -> (y: f32[1]) { s = s + x; y = s.max(0) }\n}\n"
      "let b = Big()\nfor i in 0..4 { print(b.step([1.0] as f32[1]).y.scalar) }\n";
  for (const Schedule schedule : {Schedule::push, Schedule::pull}) {
    RunSettings settings;
    settings.schedule = schedule;
    const Ran ran = run_text(text, settings);
    CHECK(ran.output == "1\n2\n3\n4\n");
    CHECK(ran.report.memory.peak_bytes < 6'000'000);  // one of four million bytes
  }
  // Somebody holds the version before: it stays as it was.
  const Ran held = run_text(
      "task bump(inout x: f32[3]) { x = x * 2.0 }\nvar x = [1.0, 2.0, 3.0] as f32[3] + 0.0\n"
      "let before = x\nlet first = x.array\nbump(x)\nlet second = x.array\nbump(x)\n"
      "print(first, second, x.array, before.array)\n");
  CHECK(held.errors == "");
  CHECK(held.output == "[1, 2, 3] [2, 4, 6] [4, 8, 12] [1, 2, 3]\n");
}

}  // namespace taskspec::session_memory_test
