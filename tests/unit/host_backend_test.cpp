// The host backend as a session uses it.
#include <doctest/doctest.h>

#include "tests/unit/host_graphs.hpp"
#include "tests/unit/plain_plan.hpp"

namespace taskspec::host_backend_test {

namespace {

struct Ready {
  NoBodies bodies;
  std::unique_ptr<PlanBackend> backend;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Executable> executable;

  explicit Ready(const MixGraph& g, std::uint32_t threads = 2)
      : backend(make_host_backend({.threads = threads})),
        plan(make_plan(g.graph, aggregate(*g.graph))),
        executable(backend->prepare(plan, bodies)) {}
  RunOnce run(const std::vector<Words>& inputs = {}, const RunOptions& options = {}) {
    return RunOnce(*backend, *executable, inputs, options);
  }
};

const Poison& poison(const Outcome& outcome, std::size_t result) { return std::get<Poison>(outcome.results[result]); }

}  // namespace

TEST_CASE("nothing runs until the input arrives, then everything once, with the values of eager [A4]") {
  MixGraph g;
  g.result(g.add(g.add(g.add({g.input(5)}, {4}), {3}), {2})[0]);
  Ready ready(g);
  auto runs = [&] {
    int sum = 0;
    for (MixTask& task : g.tasks) sum += task.runs;
    return sum;
  };
  CHECK(ready.plan->steps() == 1);
  CHECK(runs() == 0);
  Words x{1, 2, 3, 4, 5};
  RunOnce deferred = ready.run({x});
  CHECK(runs() == 3);
  CHECK(deferred.outcome.tasks_run == 3);
  CHECK(deferred.outcome.dispatches == 1);
  RunOnce eager = ready.run({x}, {.schedule = Schedule::eager});
  CHECK(eager.outcome.dispatches == 3);
  CHECK(eager.words == deferred.words);
  CHECK(deferred.words == g.expected({x}));
}

TEST_CASE("push and pull give the same, and pull runs only what is needed [A5]") {
  MixGraph g;
  Ref a = g.add({g.input(2)}, {2})[0];
  Ref b = g.add({a}, {2})[0], unseen = g.add({a}, {2})[0];
  g.add({unseen}, {1});
  g.result(g.add({b, a}, {3})[0]);
  for (std::uint32_t threads : {1U, 2U}) {
    Ready ready(g, threads);
    g.forget_runs();
    RunOnce push = ready.run({{3, 4}});
    CHECK(push.outcome.tasks_run == 5);
    g.forget_runs();
    RunOnce pull = ready.run({{3, 4}}, {.schedule = Schedule::pull});
    CHECK(pull.outcome.tasks_run == 3);
    CHECK(g.tasks[unseen.id].runs == 0);
    CHECK(push.words == pull.words);
    CHECK(push.words == g.expected({{3, 4}}));
  }
}

TEST_CASE("pull runs what writes a place, although nobody asks for the version, and what that reads [A5]") {
  MixGraph g;
  const PlaceId place = g.place(g.input(2));
  const Ref a = g.add({g.input(2)}, {2})[0];
  g.add({g.add({a}, {2})[0]}, {}, {place}, {true});
  g.add({a}, {2});  // nobody sees this one
  g.result(a);
  Ready ready(g);
  g.forget_runs();
  CHECK(ready.run({{1, 2}, {3, 4}}, {.schedule = Schedule::pull}).outcome.tasks_run == 3);
  for (const std::size_t task : {0, 1, 2}) CHECK(g.tasks[task].runs == 1);
  CHECK(g.tasks[3].runs == 0);
}

TEST_CASE("results may be inputs, constants, one value twice") {
  MixGraph g;
  Ref x = g.input(2), c = g.constant({8, 9}), y = g.add({x, c}, {2})[0];
  for (Ref ref : {x, c, y, y}) g.result(ref);
  Ready ready(g);
  RunOnce once = ready.run({{1, 2}});
  CHECK(once.words == g.expected({{1, 2}}));
  Backend::Memory memory = ready.backend->memory();
  CHECK(memory.allocations == memory.frees);
  CHECK(memory.live_bytes == 0);
}

TEST_CASE("a graph without tasks runs") {
  MixGraph g;
  g.result(g.input(1));
  CHECK(Ready(g).run({{5}}).words == std::vector<Words>{{5}});
  CHECK(Ready(MixGraph()).run().words.empty());
}

TEST_CASE("a task that throws poisons its outputs and all that reads them, and nothing else [A2]") {
  for (Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager}) {
    CAPTURE(static_cast<int>(schedule));
    MixGraph g;
    Ref x = g.input(2);
    auto bad = g.add({x}, {2, 2});
    Ref after = g.add({bad[0]}, {2})[0], good = g.add({x}, {2})[0];
    Ref both = g.add({good, after}, {1})[0], healthy = g.add({good}, {1})[0];
    for (Ref ref : {bad[1], both, healthy}) g.result(ref);
    g.tasks[bad[0].id].fails = true;
    Ready ready(g);
    RunOnce once = ready.run({{1, 2}}, {.schedule = schedule});
    CHECK(poison(once.outcome, 0).origin == bad[0].node());
    CHECK(poison(once.outcome, 1).origin == bad[0].node());
    CHECK(poison(once.outcome, 1).fault.code == Code("E5011"));
    CHECK(poison(once.outcome, 1).fault.message == "a C++ task threw: task 1 fails");
    CHECK(once.words[2] == g.expected({{1, 2}})[2]);
    CHECK(g.tasks[after.id].runs == 0);
    CHECK(g.tasks[both.id].runs == 0);
    REQUIRE(once.outcome.failed.size() == 1);
    CHECK(once.outcome.failed[0].origin == bad[0].node());
    CHECK(once.outcome.tasks_run == 3);  // the one that failed ran, too
    CHECK(ready.backend->memory().allocations == ready.backend->memory().frees);

    g.tasks[bad[0].id].fails = false;  // and the next run is whole again
    CHECK(ready.run({{1, 2}}, {.schedule = schedule}).words == g.expected({{1, 2}}));
  }
}

TEST_CASE("of several poisons the first in program order is kept [A2]") {
  MixGraph g;
  Ref a = g.add({}, {1})[0], b = g.add({}, {1})[0];
  g.result(g.add({b, a}, {1})[0]);
  g.tasks[a.id].fails = g.tasks[b.id].fails = true;
  for (int round = 0; round < 20; ++round) {
    g.tasks[a.id].wait = round % 2 ? 50 : 0;
    RunOnce once = Ready(g, 2).run();
    CHECK(poison(once.outcome, 0).origin == a.node());
    CHECK(once.outcome.failed.size() == 2);
  }
}

TEST_CASE("in a chain that is joined by an order edge only, a failed reader does not poison the writer [A2]") {
  MixGraph g;
  PlaceId place = g.place(g.input(2));
  g.add({}, {1}, {place}, {false});
  g.add({}, {}, {place}, {true});
  g.result(g.graph->current(place));
  Ready ready(g);
  CHECK(ready.plan->steps() == 1);
  g.tasks[0].fails = true;
  RunOnce once = ready.run({{1, 2}});
  CHECK(once.words == g.expected({{1, 2}}));
  CHECK(once.outcome.failed.size() == 1);
}

TEST_CASE("an interrupted run ends soon, its unfinished results poisoned with E5009") {
  struct Stopper {
    PlanBackend* backend = nullptr;
    static void run(void* context, std::span<const std::byte* const>, std::span<std::byte* const>) {
      static_cast<Stopper*>(context)->backend->interrupt();
    }
  } stopper;
  MixGraph g;
  DefinitionId stop = g.graph->define(native_definition("stop", &Stopper::run, &stopper));
  TypeId type = g.graph->intern(word_type(1));
  NodeId node = g.graph->add(stop, {.in = {}, .out = {&type, 1}});
  g.tasks.emplace_back();
  g.result(Ref::future(node, 0));
  g.result(g.add({Ref::future(node, 0)}, {1})[0]);
  for (Schedule schedule : {Schedule::push, Schedule::eager}) {
    Ready ready(g);
    stopper.backend = ready.backend.get();
    RunOnce once = ready.run({}, {.schedule = schedule});
    CHECK(std::holds_alternative<Location>(once.outcome.results[0]));
    CHECK(poison(once.outcome, 1).fault.code == Code("E5009"));
    CHECK(g.tasks[1].runs == 0);
  }
}

TEST_CASE("records name the step, the worker and the time when asked") {
  MixGraph g;
  Ref a = g.add({}, {1})[0];
  g.result(g.add({a}, {1})[0]);
  g.result(g.add({a}, {1})[0]);
  Ready ready(g);
  CHECK(ready.run().outcome.records.empty());
  for (Schedule schedule : {Schedule::push, Schedule::eager}) {
    RunOnce once = ready.run({}, {.schedule = schedule, .record = true});
    REQUIRE(once.outcome.records.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const DispatchRecord& record = once.outcome.records[i];
      CHECK(record.chain == ChainId(i));
      CHECK(record.begin <= record.end);
      CHECK(record.worker < 2);
    }
    CHECK(once.outcome.records[0].end <= once.outcome.records[1].begin);
  }
}

TEST_CASE("running a plan again allocates nothing but its results [A15]") {
  MixGraph g;
  std::vector<Ref> row = g.add({g.input(4)}, {4, 4});
  for (int i = 0; i < 10; ++i) row = {g.add({row[0]}, {8})[0], g.add({row[1], row[0]}, {4})[0]};
  g.result(row[1]);
  Ready ready(g);
  Words x{1, 2, 3, 4};
  RunOnce first = ready.run({x});
  RunOnce again = ready.run({x});
  CHECK(first.words == again.words);
  // The arena is borrowed and given back; the result is kept.
  CHECK(again.outcome.allocations == again.outcome.frees + 1);
  CHECK(again.outcome.peak_bytes >= ready.plan->arena_bytes + 32);
  CHECK(ready.backend->memory().live_bytes == 0);
}

TEST_CASE("tasks may run plans of the same backend") {
  struct Nest {
    PlanBackend* backend;
    Executable* inner;
    static void run(void* context, std::span<const std::byte* const>, std::span<std::byte* const> out) {
      auto& nest = *static_cast<Nest*>(context);
      RunOnce once(*nest.backend, *nest.inner, {{1, 2}});
      std::copy(once.words[0].begin(), once.words[0].end(), reinterpret_cast<std::uint64_t*>(out[0]));
    }
  };
  MixGraph small;
  Ref a = small.add({small.input(2)}, {2})[0];
  small.result(small.add({small.add({a}, {1})[0], small.add({a}, {1})[0]}, {2})[0]);
  Ready inner(small);
  Nest nest{inner.backend.get(), inner.executable.get()};
  auto graph = std::make_shared<TaskGraph>();
  DefinitionId definition = graph->define(native_definition("nest", &Nest::run, &nest));
  TypeId type = graph->intern(word_type(2));
  graph->add_result({"y", word_type(2), Ref::future(graph->add(definition, {.in = {}, .out = {&type, 1}}), 0)});
  auto plan = make_plan(graph, aggregate(*graph));
  auto outer = inner.backend->prepare(plan, inner.bodies);
  RunOnce once(*inner.backend, *outer, {});
  CHECK(once.words == small.expected({{1, 2}}));
}

}  // namespace taskspec::host_backend_test
