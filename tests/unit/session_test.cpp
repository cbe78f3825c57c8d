// Sessions as a program sees them: nothing runs before a receive asks for it, and then once; failures poison
// what depends on them; loops replay plans; agents and tables hold names and places, never values.
#include "interp/session/session.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "frontend/check.hpp"
#include "interp/backends/read.hpp"
#include "interp/control/bodies.hpp"
#include "interp/control/build_graph.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/control/record.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/host/lookup_table.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::session_test {

namespace {

// ---- builtins that look inside ------------------------------------------------------------------------

Session& session_of(HostContext& host) {
  return dynamic_cast<Session&>(dynamic_cast<RecordTarget&>(host.interpreter->target()).recorder());
}

Type an_int(RuleContext&) { return Type::Kind::integer; }
Type a_string(RuleContext&) { return Type::Kind::string; }

Value run_executions(HostContext& host, std::span<const Value>) {
  return Value(static_cast<std::int64_t>(session_of(host).executions()));
}

Value run_recorded(HostContext& host, std::span<const Value>) {
  return Value(static_cast<std::int64_t>(session_of(host).graph.size()));
}

// What an agent consists of: "k=int s=future", or "s=array" if it held contents.
Value run_parts(HostContext& host, std::span<const Value> values) {
  const Agent& agent = *values[0].as<Agent>();
  const AgentDef& definition = host.program[agent.definition];
  auto kind = [](const Value& value) {
    if (value.is_array()) return "array";
    auto* tensor = value.as<Tensor>();
    if (!tensor) return "host";
    return tensor->ref.is_future() ? "future" : "constant";
  };
  std::string text;
  for (std::size_t i = 0; i < agent.arguments.size(); ++i)
    text += definition.parameters[i].name + "=" + kind(agent.arguments[i]) + " ";
  for (std::size_t i = 0; i < agent.slots.size(); ++i)
    text += definition.slots[i].name + "=" + kind(agent.slots[i]) + " ";
  return Value(text);
}

constexpr Operand agent_operand[] = {{"agent", OperandKind::value}};
constinit const Builtin executions = BuiltinFields{.name = "executions",
                                                   .operands = {},
                                                   .doc = "Tasks run so far.",
                                                   .example = "-",
                                                   .type = an_int,
                                                   .effect = Effect::host,
                                                   .run = run_executions,
                                                   .runs_in = RunsIn::asked};
constinit const Builtin recorded = BuiltinFields{.name = "recorded",
                                                 .operands = {},
                                                 .doc = "Tasks recorded so far.",
                                                 .example = "-",
                                                 .type = an_int,
                                                 .effect = Effect::host,
                                                 .run = run_recorded,
                                                 .runs_in = RunsIn::asked};
constinit const Builtin parts = BuiltinFields{.name = "parts",
                                              .operands = agent_operand,
                                              .doc = "Parts of an agent.",
                                              .example = "-",
                                              .type = a_string,
                                              .effect = Effect::host,
                                              .run = run_parts,
                                              .runs_in = RunsIn::asked};

// The standard tools and those above.
class Tools {
 public:
  Tools() {
    const Toolbox& standard = standard_toolbox();
    table_.assign(standard.builtins.all().begin(), standard.builtins.all().end());
    table_.insert(table_.end(), {&executions, &recorded, &parts});
    std::stable_sort(table_.begin(), table_.end(),
                     [](const Builtin* a, const Builtin* b) { return a->name < b->name; });
  }
  Toolbox toolbox() const { return {standard_toolbox().ops, BuiltinTable(table_)}; }

 private:
  std::vector<const Builtin*> table_;
};

Ran run_with(const std::string& text, Schedule schedule = Schedule::push, int threads = 2) {
  RunSettings settings;
  settings.schedule = schedule;
  settings.threads = threads;
  const Tools tools;
  Ran ran = run_text(text, settings, tools.toolbox());
  CAPTURE(text);
  CHECK_MESSAGE(ran.errors == "", ran.errors);
  return ran;
}

const std::string tasks =
    "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
    "task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }\n"
    "task bump(inout r: f32[N], in d: f32[N]) -> (t: f32[1]) { r += d; t = r.sum(0) }\n"
    "task divide(in x: i32[N], in d: i32[N]) -> (q: i32[N]) { q = x / d }\n"
    "task next(in x: i32[N]) -> (y: i32[N]) { y = x + 1 }\n"
    "let x = [1.0, 2.0] as f32[2]\n";

constexpr Schedule all_schedules[] = {Schedule::push, Schedule::pull, Schedule::eager};

}  // namespace

// ---- deferred execution -------------------------------------------------------------------------------

TEST_CASE("[A4] nothing runs before a receive, then everything that it needs, once") {
  const std::string program = tasks +
                              "graph twice(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }\n"
                              "let a = twice(x)\nlet b = add(a.y, inc(a.y).y)\n"
                              "print(executions())\n"
                              "print(b.y.array, executions())\n"
                              "print(b.y.array, a.y.array, executions())\n";
  CHECK(run_with(program).output == "0\n[7, 9] 4\n[7, 9] [3, 4] 4\n");
  CHECK(run_with(program, Schedule::pull).output == "0\n[7, 9] 4\n[7, 9] [3, 4] 4\n");
}

TEST_CASE("[A4] pull runs what is asked for, and the rest when that is asked for") {
  const std::string program = tasks +
                              "let a = inc(x)\nlet b = inc(a.y)\nlet c = inc(a.y)\n"
                              "print(b.y.array, executions())\nprint(c.y.array, executions())\n";
  CHECK(run_with(program, Schedule::pull).output == "[3, 4] 2\n[3, 4] 3\n");
  CHECK(run_with(program, Schedule::push).output == "[3, 4] 3\n[3, 4] 3\n");
}

TEST_CASE("[A3] a future prints the same before and after it ran, on every schedule") {
  const std::string program =
      tasks + "let a = inc(inc(x).y)\nprint(a)\nprint(a.y)\nlet v = a.y.array\nprint(a.y)\nprint(v)\n";
  for (const Schedule schedule : all_schedules) {
    const std::string& output = run_with(program, schedule).output;
    CHECK(output == "<inc#1.y : f32[2], 2 steps>\n<inc#1.y : f32[2], 2 steps>\n<inc#1.y : f32[2], 2 steps>\n[3, 4]\n");
  }
}

TEST_CASE("[A4] a graph is built and aggregated first, and its input bound later") {
  const std::string text =
      "task twice(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }\n"
      "task shifted(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
      "graph g(x: f32[4]) -> (y: f32[4], z: f32[4]) { let a = twice(x); y = shifted(a.y).y; z = twice(a.y).y }\n";
  const Toolbox& tools = standard_toolbox();
  Sources sources;
  const SourceId main = sources.add("g.task", text);
  Result<Program> checked = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
  REQUIRE(static_cast<bool>(checked));
  const Program& program = *checked;
  Interpreter interpreter(program, nullptr);
  interpreter.leave_host();
  const std::unique_ptr<GraphView> view = build_graph(interpreter, find_graph(program, "g"));
  REQUIRE(has_concrete_types(view->graph));
  const std::shared_ptr<const TaskGraph> graph(std::shared_ptr<const GraphView>(view.get(), [](auto*) {}),
                                               &view->graph);
  const std::shared_ptr<const Plan> plan = make_plan(graph, aggregate(*graph));
  ProgramBodies bodies(interpreter);
  const std::unique_ptr<PlanBackend> backend = make_host_backend({.threads = 2});
  const std::shared_ptr<Executable> ready = backend->prepare(plan, bodies);

  for (const float first : {1.0f, -3.0f}) {
    Array input = Array::make({Precision::f32, {4}});
    for (std::int64_t i = 0; i < 4; ++i) input.set_number(i, first + static_cast<float>(i));
    for (const Schedule schedule : all_schedules) {
      const Location location = backend->allocate(input.type());
      backend->write(location, input);
      const Outcome outcome = backend->execute(*ready, {&location, 1}, {.schedule = schedule});
      CHECK(outcome.tasks_run == 3);
      REQUIRE(outcome.results.size() == 2);
      for (std::size_t r = 0; r < 2; ++r) {
        REQUIRE(std::holds_alternative<Location>(outcome.results[r]));
        const Location result = std::get<Location>(outcome.results[r]);
        const Array array = backend->read(result);
        for (std::int64_t i = 0; i < 4; ++i) {
          const float doubled = 2 * (first + static_cast<float>(i));
          CHECK(array.number(i) == (r == 0 ? doubled + 1 : doubled * 2));
        }
        backend->free(result);
      }
      backend->free(location);
    }
  }
  CHECK(backend->memory().live_bytes == 0);
}

// ---- every task once ----------------------------------------------------------------------------------

TEST_CASE("[A13] I7: a task runs once, however many ask for it") {
  std::string program = tasks + "let a = inc(x)\nvar total = 0.0\n";
  for (int i = 0; i < 10; ++i) program += "total += add(a.y, a.y).y.sum().scalar + a.y[0].scalar\n";
  program += "print(total)\nprint(executions() == recorded(), executions())\n";
  for (const Schedule schedule : {Schedule::push, Schedule::pull}) {
    const Ran ran = run_with(program, schedule);
    CHECK(ran.output == "120\ntrue 31\n");  // inc; then add, sum and slice ten times
    CHECK(ran.report.tasks == 31);
    CHECK(ran.report.dropped == 0);
  }
}

TEST_CASE("work that nobody observes is dropped and counted, unless it has effects") {
  for (const Schedule schedule : {Schedule::push, Schedule::pull}) {
    const Ran ran = run_with(tasks +
                                 "var r = x\n"
                                 "fn idle() { let unused = inc(inc(x).y) }\n"  // the slicer leaves it out
                                 "fn waste(k: int) { let unused = inc(inc(iota(k) as f32[k]).y) }\n"
                                 "for i in 0..5 { idle(); waste(i) }\n"
                                 "for i in 0..3 { bump(r, x) }\n"
                                 "print(recorded())\n",
                             schedule);
    CHECK(ran.output == "23\n");
    CHECK(ran.report.tasks == 3);  // those that write a place
    CHECK(ran.report.dropped == 20);
  }
}

TEST_CASE("[A15] everything that was allocated is freed at the end of the program") {
  for (const Schedule schedule : all_schedules) {
    const Ran ran = run_with(tasks +
                                 "var v = x\nvar r = x\nfor i in 0..20 { v = inc(add(v, x).y).y; bump(r, v) }\n"
                                 "print(v.array, r[0..1].array.len())\n",
                             schedule);
    CHECK(ran.report.memory.allocations > 0);
    CHECK(ran.report.memory.allocations == ran.report.memory.frees);
    CHECK(ran.report.memory.live_bytes == 0);
  }
}

// ---- plans --------------------------------------------------------------------------------------------

TEST_CASE("a loop of a thousand equal turns makes few plans") {
  const Ran ran =
      run_with(tasks +
               "var v = x\nvar total = 0.0\n"
               "for i in 0..1000 { v = add(inc(v).y, x).y; if v[0].scalar > 100.0 { v = x }\ntotal += 1.0 }\n"
               "print(total)\n");
  CHECK(ran.output == "1000\n");
  CHECK(ran.report.plans <= 5);
  CHECK(ran.report.tasks >= 3000);
}

TEST_CASE("what changes from turn to turn is no part of a plan: random numbers of a thousand calls have one") {
  const auto turns = [](const std::string& body) {
    return run_with("var v = fill(f32[4], 0.0)\nvar high = 0\nfor i in 0..1000 {\n  v = v * 0.5 + " + body +
                    "\n  if v[0].scalar > 1.0 { high += 1 }\n}\nprint(high > 300 && high < 700)\n");
  };
  for (const char* body :
       {"uniform(f32[4], seed: 1, call: i)", "uniform(f32[4], seed: i)", "uniform(f32[4], seed: 1, stream: i)",
        "uniform(f32[4], seed: 1, call: i) * (1.0 + 1e-9 * i)"}) {
    CAPTURE(body);
    const Ran ran = turns(body);
    CHECK(ran.output == "true\n");
    CHECK(ran.report.plans == 1);
  }
}

TEST_CASE("seed, stream and call may be tensors of one i64, and are refused when the program runs") {
  const std::string same = "let x = uniform(f32[4], seed: 7, stream: 2, call: 3)\n";
  const Ran tensors = run_with(same +
                               "let n = [7, 2, 3] as i64[3]\nlet y = uniform(f32[4], seed: n[0], stream: n[1], call: "
                               "n[2..3])\nprint(x.array == y.array)\n");
  CHECK(tensors.output == "true\n");
  const Ran wide = run_text("let n = [-1] as i64[1]\nprint(uniform(f32[2], seed: 1, call: n + 0).array)\n");
  CHECK(wide.errors.find("error E1003: call is a number of 32 bits, not -1") != std::string::npos);
  const Ran narrow = run_text("let n = [1] as i32[1]\nprint(uniform(f32[2], seed: 1, call: n).array)\n");
  CHECK(narrow.errors.find("error E2002: call is an int or a tensor of one i64, not i32[1]") != std::string::npos);
  const Ran two = run_text("let n = [1, 2] as i64[2]\nprint(uniform(f32[2], seed: n).array)\n");
  CHECK(two.errors.find("error E2001: seed is i64[2]: it takes one element") != std::string::npos);
}

TEST_CASE("[A10] a chain is one dispatch") {
  const Ran ran = run_with(tasks + "print(inc(inc(inc(inc(x).y).y).y).y.array)\n");
  CHECK(ran.output == "[5, 6]\n");
  CHECK(ran.report.tasks == 4);
  CHECK(ran.report.dispatches == 1);
  const Ran eager = run_with(tasks + "print(inc(inc(inc(inc(x).y).y).y).y.array)\n", Schedule::eager);
  CHECK(eager.report.dispatches == 4);
}

// ---- poison -------------------------------------------------------------------------------------------

TEST_CASE("[A2] a failing task poisons what depends on it; the first receive names it and the way") {
  const std::string program = tasks +
                              "let bad = divide([6, 8] as i32[2], [2, 0] as i32[2])\n"
                              "let good = divide([6, 8] as i32[2], [2, 2] as i32[2])\n"
                              "let far = next(next(next(bad.q).y).y)\n"
                              "print(next(good.q).y.array)\n"
                              "print(far.y.array)\nprint(\"not reached\")\n";
  for (const Schedule schedule : all_schedules) {
    RunSettings settings;
    settings.schedule = schedule;
    const Ran ran = run_text(program, settings);
    CAPTURE(ran.errors);
    CHECK(ran.code == 3);
    CHECK(ran.output == "[4, 5]\n");
    REQUIRE(ran.diags.size() == 1);
    const Diag& diag = ran.diags.items().front();
    CHECK(diag.code.text() == "E5002");
    CHECK(diag.primary.text == "in 'divide#0'");
    CHECK(ran.errors.find("divide#0 -> next#0 -> next#1 -> next#2") != std::string::npos);
    CHECK(ran.errors.find("received here") != std::string::npos);
  }
}

TEST_CASE("[A2] a task that reads poison does not run") {
  const std::string program = tasks +
                              "let bad = divide([6] as i32[1], [0] as i32[1])\n"
                              "let far = next(next(bad.q).y)\n"
                              "let good = next([1] as i32[1])\n"
                              "print(good.y.array)\nprint(far.y.array)\n";
  RunSettings settings;
  settings.schedule = Schedule::pull;
  const Ran ran = run_text(program, settings);
  CHECK(ran.output == "[2]\n");
  CHECK(ran.report.tasks <= 2);  // good, and the one that failed
}

TEST_CASE("a failure that nobody receives is silent, unless it was to have an effect") {
  CHECK(run_text(tasks + "let bad = divide([6] as i32[1], [0] as i32[1])\nprint(1)\n").code == 0);
  const Ran ran = run_text(tasks +
                           "task scale(inout r: i32[N], in d: i32[N]) { r = r / d }\n"
                           "var r = [6] as i32[1]\nscale(r, [0] as i32[1])\nprint(1)\n");
  CHECK(ran.output == "1\n");
  CHECK(ran.code == 3);
  CHECK(ran.errors.find("E5002") != std::string::npos);
  CHECK(ran.errors.find("scale#0") != std::string::npos);
}

// ---- who holds what -----------------------------------------------------------------------------------

// Neither a location nor a buffer can be made from an address, and a cell points with numbers only.
static_assert(!std::is_constructible_v<Location, std::byte*> && !std::is_convertible_v<Location, std::byte*>);
static_assert(!std::is_constructible_v<BufferId, std::byte*> && !std::is_convertible_v<BufferId, std::byte*>);
static_assert(std::is_same_v<decltype(CellPlace::location), BufferId> &&
              std::is_same_v<decltype(CellPlace::version), std::uint32_t>);
static_assert(sizeof(CellPlace) == sizeof(BufferId) + sizeof(std::uint32_t));
static_assert(std::is_same_v<decltype(std::declval<const LookupTable&>().place(BufferId())), CellPlace>);

TEST_CASE("[A1] an agent holds parameters and names of versions, never contents") {
  const Ran ran = run_with(
      "agent Sum(k: float) {\n"
      "  state s: f32[1000] = zero()\n"
      "  weight w: f32[1000] = constant(2.0)\n"
      "  task add(in x: f32[1000]) -> (y: f32[1]) { s += x * w * k; y = s.sum(0) }\n"
      "}\n"
      "let a = Sum(0.5)\n"
      "print(parts(a))\n"
      "for i in 0..3 { a.add(fill(f32[1000], 1.0)) }\n"
      "print(parts(a))\n"
      "print(a.add(fill(f32[1000], 1.0)).y.scalar)\n"
      "print(parts(a))\n");
  CHECK(ran.output ==
        "k=host s=constant w=constant \n"
        "k=host s=future w=constant \n"
        "4000\n"
        "k=host s=future w=constant \n");
}

TEST_CASE("[A1] tasks and futures are told apart from values: the taskGraph gains nothing by running") {
  const Ran ran = run_with(
      tasks + "let a = inc(x)\nlet before = recorded()\nprint(a.y.array, a.y.array)\nprint(recorded() == before)\n");
  CHECK(ran.output == "[2, 3] [2, 3]\ntrue\n");
}

TEST_CASE("a handle that outlives its graph names nothing any more, and ends without it") {
  std::shared_ptr<Tensor> first, second;
  {
    GraphView view;
    const Array array = Array::make({Precision::f32, {4}});
    auto handle = [&] {
      return view.tensor(Ref::constant(view.graph.add_constant(array.type().type(), array)), array.type().type());
    };
    first = handle();
    { auto between = handle(); }
    second = handle();
    CHECK(first->is_of(view));
  }
  CHECK(second->text() == "<const : f32[4]>");
  first.reset();
  second.reset();
}

TEST_CASE("the first call of a graph has the chains of all later ones: first values of slots run before it") {
  const std::string text =
      "agent Layer(n: int) {\n  weight w: f32[n] = uniform(seed: 1)\n  weight b: f32[n] = uniform(seed: 2)\n"
      "  task forward(in x: f32[n]) -> (y: f32[n]) { y = x * w + b }\n}\n"
      "let first = Layer(4)\nlet second = Layer(4)\n"
      "graph net(x: f32[4]) -> (y: f32[4]) { y = second.forward(first.forward(x).y).y }\n"
      "let x = [1.0, 2.0, 3.0, 4.0] as f32[4]\n"
      "for i in 0..3 {\n  let y = net(x).y\n  if i == 0 { print(y) }\n  let a = y.array\n}\n";
  for (const char* schedule : {"push", "pull"}) {
    RunSettings settings;
    settings.schedule = schedule_of(schedule);
    Ran ran = run_text_directly(text, settings);
    CHECK(ran.errors == "");
    CHECK(ran.output == "<net#0.y : f32[4], 2 steps>\n");
    CHECK(ran.report.plans == 2);           // one of the four first values, one of the graph
    CHECK(ran.report.dispatches == 4 + 3);  // each call is one chain
  }
}

TEST_CASE("first values of slots keep their place among effects, whatever the schedule") {
  const std::string places =
      "let x = [5.0] as f32[1]\n"
      "agent A {\n  state s: f32[1] = zero()\n"
      "  task inc(in d: f32[1]) -> (y: f32[1]) { s += d; y = s }\n"
      "  task peek(in d: f32[1]) -> (y: f32[1]) { y = s + d }\n}\n"
      "let a = A()\n"
      "agent B {\n  state t: f32[1] = a.inc(x).y\n  task get(in d: f32[1]) -> (y: f32[1]) { y = t + d }\n}\n"
      "let r = a.peek(x)\nlet b = B()\nlet r2 = a.peek(x)\n"
      "print(r.y.scalar, r2.y.scalar, b.get(x).y.scalar)\n";
  const std::string prints =
      "let x = [5.0] as f32[1]\n"
      "graph noisy() -> (y: f32[1]) { graph_print(\"init\", x); y = x * 2.0 }\n"
      "agent A { state s: f32[1] = noisy().y; task get(in d: f32[1]) -> (y: f32[1]) { y = s + d } }\n"
      "graph_print(\"first\", x)\nlet a = A()\nprint(a.get(x).y.scalar)\n";
  for (const char* schedule : {"push", "pull", "eager"}) {
    CAPTURE(schedule);
    RunSettings settings;
    settings.schedule = schedule_of(schedule);
    CHECK(run_text_directly(places, settings).output == "5 10 10\n");
    CHECK(run_text_directly(prints, settings).output.find("first: [5]\ninit: [5]\n") != std::string::npos);
  }
}

TEST_CASE("what fits into memory is done on every schedule, whatever stands beside it") {
  const std::string text =
      "task bump(inout r: f64[1], in d: f64[1]) -> (t: f64[1]) { r = r + d; t = r }\n"
      "var a = [1.0] as f64[1]\nlet n = parse_int(\"4000000\")\nbump(a, [1.0] as f64[1])\n"
      "let big = fill(f64[n, n], 1.0) + 1.0\ngraph_print(\"a\", a)\nlet s = big.sum()\nprint(a.array)\n"
      "graph_print(\"s\", s)\nprint(a.array)\n";
  for (const char* schedule : {"push", "pull", "eager"}) {
    CAPTURE(schedule);
    RunSettings settings;
    settings.schedule = schedule_of(schedule);
    const Ran ran = run_text_directly(text, settings);
    CHECK(ran.output.find("a: [2]\n") != std::string::npos);  // somewhere among what the host prints
    CHECK(ran.output.size() == std::string("a: [2]\n[2]\n[2]\n").size());
    CHECK(ran.errors.find("E5008") != std::string::npos);
    CHECK(ran.code == 3);
  }
}

TEST_CASE("[regions] a field for which no memory is left is named, with the places of its launch and its region") {
  // Each region by itself is within the limit: what they need together is seen when the second one is first used.
  const std::size_t points = memory_limit() / sizeof(double) / 10 * 6;
  const std::string extent = std::to_string(points);
  const Ran ran = run_text(
      "fields Cell { a: f64 }\n"
      "task mark(inout c: Cell[_].{a}) { for i in c { c[i].a = 1.0 } }\n"
      "let first = region Cell[" +
      extent +
      "]\n"
      "let second = region Cell[" +
      extent +
      "]\n"
      "mark(blocks(first, " +
      extent +
      ")[3])\n"
      "mark(blocks(second, " +
      extent + ")[3])\n");
  CHECK(ran.code == 3);
  CHECK(ran.errors.find("error E5008: no memory for " + std::to_string(points * sizeof(double)) +
                        " bytes of 'second.a'\n") != std::string::npos);
  CHECK(ran.errors.find(":6:1\n") != std::string::npos);
  CHECK(ran.errors.find("'second' is made here") != std::string::npos);
}

}  // namespace taskspec::session_test
