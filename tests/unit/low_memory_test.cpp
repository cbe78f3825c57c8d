// What is left when memory runs out: every allocation of a run fails in its turn. Due is E5008, or what is right, and
// that everything can be used afterwards; a mistake of ours or a terminated process would end the tests.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "frontend/check.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/host/memory.hpp"
#include "interp/host/pool.hpp"
#include "interp/live_program.hpp"
#include "tests/unit/failing_memory.hpp"
#include "tests/unit/host_graphs.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::low_memory_test {

namespace {

constexpr std::int64_t most = 200'000;  // allocations of one run

// Runs `body` with the first, the second, ... allocation failing, until all of them succeed. How often one failed.
template <class Body>
std::int64_t each_failing(Body&& body, std::int64_t step = 1) {
  for (std::int64_t n = 1, tried = 0; n < most; n += step, ++tried) {
    CAPTURE(n);
    if (!body(n)) return tried;
  }
  FAIL("there is no end of allocations");
  return 0;
}

bool is_memory(const Diags& diags) {
  for (const Diag& diag : diags.items())
    if (diag.code != Code("E5008")) return false;
  return diags.has_errors();
}

bool has_place(const Diags& diags) {
  return std::ranges::all_of(diags.items(), [](const Diag& diag) { return diag.primary.span.valid(); });
}

// A wide layer between two tasks; one of them fails, so that poison has to be noted, too.
MixGraph wide_graph(std::size_t width, bool fails) {
  MixGraph g;
  Ref x = g.input(3);
  std::vector<Ref> layer;
  for (std::size_t i = 0; i < width; ++i) layer.push_back(g.add({g.add({x}, {2})[0]}, {2})[0]);
  Ref all = g.add(layer, {2})[0];
  for (Ref ref : {layer[0], layer[1], all, all, x}) g.result(ref);
  g.tasks[layer[1].id].fails = fails;
  return g;
}

struct Ready {
  NoBodies bodies;
  std::unique_ptr<PlanBackend> backend;
  std::shared_ptr<Executable> executable;
  std::vector<Location> inputs;

  Ready(const MixGraph& g, std::uint32_t threads)
      : backend(make_host_backend({.threads = threads, .adaptive = false})),
        executable(backend->prepare(make_plan(g.graph, aggregate(*g.graph)), bodies)) {
    Array x = words_array({1, 2, 3});
    inputs.push_back(backend->allocate(x.type()));
    backend->write(inputs[0], x);
  }
  void give_back(const Outcome& outcome) {
    for (const auto& result : outcome.results)
      if (auto* location = std::get_if<Location>(&result); location && location->valid()) backend->free(*location);
  }
};

}  // namespace

TEST_CASE("a run of a plan survives every allocation that fails, and so does its backend [queues]") {
  for (std::uint32_t threads : {1U, 3U})
    for (bool fails : {false, true})
      for (Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager}) {
        CAPTURE(threads);
        CAPTURE(fails);
        CAPTURE(static_cast<int>(schedule));
        MixGraph g = wide_graph(40, fails);
        Ready ready(g, threads);
        int lost = 0, thrown = 0;
        const std::int64_t tried = each_failing([&](std::int64_t n) {
          g.forget_runs();
          Outcome outcome;
          bool threw = false, failed = false;
          {
            FailingMemory memory(n);
            try {
              outcome = ready.backend->execute(*ready.executable, ready.inputs, {schedule, n % 2 == 0});
            } catch (const std::bad_alloc&) {
              threw = true;
            } catch (const Error&) {
              threw = true;
            }
            memory.stop();
            failed = memory.failed();
          }
          int runs = 0;
          for (const MixTask& task : g.tasks) {
            CHECK(task.runs <= 1);
            runs += task.runs;
          }
          if (threw) CHECK(runs == 0);  // then the same may be tried again
          if (!threw && !outcome.lost) {
            // A task whose own memory failed says so; nothing else is hidden.
            for (const Poison& poison : outcome.failed)
              CHECK((poison.fault.code == Code("E5008") || poison.fault.code == Code("E5011")));
            if (!failed && !fails) CHECK(outcome.failed.empty());
          }
          lost += outcome.lost;
          thrown += threw;
          ready.give_back(outcome);
          const Backend::Memory memory = ready.backend->memory();
          CHECK(memory.live_bytes == 24);  // the input
          const Outcome again = ready.backend->execute(*ready.executable, ready.inputs, {schedule});
          CHECK(!again.lost);
          CHECK(again.failed.size() == (fails ? 1 : 0));
          if (!fails)
            CHECK(array_words(ready.backend->read(std::get<Location>(again.results[2]))) == g.expected({{1, 2, 3}})[2]);
          ready.give_back(again);
          return failed;
        });
        CHECK(tried > 5);
        CHECK(thrown > 0);
        if (fails) CHECK(lost > 0);  // or the test does not test what it is for
        ready.backend->free(ready.inputs[0]);
      }
}

namespace {

// Ranges beyond what its deque holds, when there is no memory for a larger one.
class Pushes final : public Job {
 public:
  explicit Pushes(Pool& pool) : pool_(pool) {}
  void process(Worker& worker, StepRange range) override {
    if (range.size() == 1) return;
    {
      FailingMemory memory(1);
      for (std::uint32_t i = 0; i < 64; ++i) refused += !worker.push({i, i + 1});
      refused_first = refused;
      refused += !worker.push({64, 65});
    }
    CHECK(worker.push({65, 66}));
    pool_.finish();
  }
  int refused = 0, refused_first = 0;

 private:
  Pool& pool_;
};

}  // namespace

TEST_CASE("a deque that cannot grow says so, and grows later [queues]") {
  Pool pool(1);
  Pushes pushes(pool);
  Pool::Entry entry(pool);
  pool.run(entry.worker(), pushes, {0, 2});
  CHECK(pushes.refused_first == 0);
  CHECK(pushes.refused == 1);
}

TEST_CASE("steps that find no room in a deque are run all the same [queues]") {
  // Two hundred steps that become ready one here, one there: each is an entry of its own.
  MixGraph g;
  Ref x = g.input(3);
  Ref root = g.add({x}, {1})[0], late = g.add({g.add({g.add({x}, {1})[0]}, {1})[0]}, {1})[0];
  std::vector<Ref> ends;
  for (int i = 0; i < 200; ++i) {
    ends.push_back(g.add({root}, {1})[0]);
    ends.push_back(g.add({root, late}, {1})[0]);
  }
  g.result(g.add(ends, {2})[0]);
  for (std::uint32_t threads : {1U, 2U, 3U}) {
    CAPTURE(threads);
    Ready ready(g, threads);
    each_failing([&](std::int64_t n) {
      g.forget_runs();
      Outcome outcome;
      bool failed = false;
      try {
        FailingMemory memory(n);
        outcome = ready.backend->execute(*ready.executable, ready.inputs, {});
        memory.stop();
        failed = memory.failed();
      } catch (const std::bad_alloc&) {
        failed = true;
      } catch (const Error&) {
        failed = true;
      }
      if (!outcome.results.empty() && outcome.failed.empty())
        CHECK(array_words(ready.backend->read(std::get<Location>(outcome.results[0]))) == g.expected({{1, 2, 3}})[0]);
      ready.give_back(outcome);
      return failed;
    });
    ready.backend->free(ready.inputs[0]);
  }
}

TEST_CASE("giving back takes no memory") {
  MemoryCount count;
  BytesCache cache(count);
  Locations locations(count);
  std::vector<MemoryBlock> lent;
  std::vector<Location> given;
  for (std::size_t i = 0; i < 40; ++i) {
    lent.push_back(cache.borrow(64 * (i + 1)));
    given.push_back(locations.add({Precision::i64, {4}}));
  }
  FailingMemory memory(1);
  for (std::size_t i = 0; i < 40; ++i) {
    cache.give_back(std::move(lent[i]), 64 * (i + 1));
    locations.free(given[i]);
  }
  memory.stop();
  CHECK(!memory.failed());
  CHECK(count.now().live_bytes == 0);
}

// ---- programs -----------------------------------------------------------------------------------------

namespace {

const std::string program_text =
    "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
    "task bump(inout r: f32[N], in d: f32[N]) { r += d }\n"
    "var r = fill(f32[3], 1.0)\n"
    "var total = 0.0\n"
    "for i in 0..3 {\n"
    "  bump(r, inc(r).y)\n"
    "  graph_print(\"r\", r)\n"
    "  total = total + r.sum().scalar\n"
    "}\n"
    "print(total)\n";

}  // namespace

TEST_CASE("a program survives every allocation that fails: it ends with E5008 or as it should [queues]") {
  const Toolbox& tools = standard_toolbox();
  Sources sources;
  const SourceId main = sources.add("test.task", program_text);
  const Result<Program> program = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
  REQUIRE(static_cast<bool>(program));
  std::string expected;
  auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  for (bool direct : {true, false}) {
    CAPTURE(direct);
    int ended = 0, without_place = 0;  // what fails before the first statement and behind the last has none
    const std::int64_t step = std::getenv("TASKSPEC_SLOW") ? 1 : direct ? 3 : 5;
    const std::int64_t tried = each_failing(
        [&](std::int64_t n) {
          std::string output;
          output.reserve(1 << 12);
          RunSettings settings;
          settings.threads = 2;
          settings.output = [&](std::string_view part) { output += part; };
          RunResult result;
          bool failed = false, thrown = false;
          FailingMemory memory(n);
          try {
            result = direct ? run_directly(*program, tools, settings) : run_program(*program, tools, settings);
          } catch (const std::bad_alloc&) {
            thrown = true;  // before or after the run itself: the tool says E5008
          } catch (const Error& error) {
            memory.stop();
            thrown = is_memory(error.diags());
            CHECK(thrown);
          }
          memory.stop();
          failed = memory.failed();
          if (!failed) expected = output;
          CHECK((thrown || result.exit_code == 0 || result.exit_code == 3));
          if (result.exit_code == 3) CHECK(is_memory(result.diags));
          without_place += !has_place(result.diags);
          CHECK(lines(output) <= 4);  // nothing is printed twice
          ended += result.exit_code == 3 || thrown;
          return failed;
        },
        step);
    CHECK(tried > 20);
    CHECK(ended > 10);
    CHECK(4 * without_place < ended);
    CHECK(lines(expected) == 4);
  }
}

TEST_CASE("a session goes on after every allocation that fails in it") {
  const Toolbox& tools = standard_toolbox();
  const std::int64_t step = std::getenv("TASKSPEC_SLOW") ? 1 : 4;
  each_failing(
      [&](std::int64_t n) {
        std::string output;
        output.reserve(1 << 12);
        RunSettings settings;
        settings.threads = 1;
        settings.output = [&](std::string_view part) { output += part; };
        LiveProgram live(tools, {}, settings);
        const LiveProgram::Step made = live.enter(
            "<1>", "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\nlet a = inc(fill(f32[3], 1.0))\n");
        REQUIRE(made.exit_code == 0);
        const LiveProgram::Step shown = live.enter("<2>", "graph_print(\"a\", a.y)\nlet b = inc(a.y)\n");
        REQUIRE(shown.exit_code == 0);
        const LiveProgram::Step next = live.enter("<3>", "inc(b.y).y\n");
        REQUIRE(next.entry);
        const Value c = live.value(next.entry->value);
        bool failed = false;
        {
          FailingMemory memory(n);
          try {
            live.contents(c);
          } catch (const Error& error) {
            memory.stop();
            CHECK(is_memory(error.diags()));
            CHECK(has_place(error.diags()));
          } catch (const std::bad_alloc&) {  // on the way to the deep stack
          }
          memory.stop();
          failed = memory.failed();
        }
        // What was computed, or had to fail, stays so; whatever comes next works.
        const LiveProgram::Step after = live.enter("<4>", "let d = inc(inc(fill(f32[3], 5.0)).y)\nprint(d.y.array)\n");
        CHECK(after.exit_code == 0);
        CHECK(output.find("[7, 7, 7]") != std::string::npos);
        CHECK(output.find("a [2, 2, 2]") == output.rfind("a [2, 2, 2]"));
        return failed;
      },
      step);
}

TEST_CASE("what is too large for the memory does not stand in the way of what is not") {
  std::string output;
  RunSettings settings;
  settings.output = [&](std::string_view part) { output += part; };
  LiveProgram live(standard_toolbox(), {}, settings);
  CHECK(live.enter("<1>", "let n = parse_int(\"4000000\")\nlet b = fill(f64[n, n], 1.0) + 1.0\n").exit_code == 0);
  const LiveProgram::Step large = live.enter("<2>", "print(b.sum().scalar)\n");
  CHECK(large.exit_code == 3);
  CHECK(is_memory(large.diags));
  CHECK(has_place(large.diags));
  CHECK(live.enter("<3>", "let x = fill(f32[2], 2.0)\nprint((x + 1.0).array)\n").exit_code == 0);
  CHECK(output == "[3, 3]\n");
}

}  // namespace taskspec::low_memory_test
