// Random graphs under every schedule, plan and number of threads: the same bits, every task once, nothing
// leaked (invariants I6, I7, I10, I11 of the task graph). A seed that fails is printed; run it alone with
// TASKSPEC_SEED.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/verify/verify.hpp"
#include "tests/unit/host_graphs.hpp"
#include "tests/unit/host_ops.hpp"
#include "tests/unit/plain_plan.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::schedule_prop_test {

namespace {

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t count) {
  return static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(count) - 1));
}

// Up to 40 tasks with several outputs, values of 0 to 8 words, places that are read and written.
void fill(MixGraph& g, Random& random) {
  std::vector<Ref> values{g.constant({1, 2, 3})};
  for (std::int64_t i = between(random, 0, 3); i > 0; --i) values.push_back(g.input(1 + pick(random, 6)));
  std::vector<PlaceId> places;
  for (std::int64_t i = between(random, 0, 2); i > 0; --i)
    places.push_back(g.place(values[pick(random, values.size())]));
  for (std::int64_t n = between(random, 1, 40); n > 0; --n) {
    std::vector<Ref> in;
    // Mostly the newest values: then there are chains.
    for (std::int64_t k = between(random, 0, 3); k > 0; --k)
      in.push_back(values[values.size() - 1 -
                          (random() % 3 ? std::min(pick(random, 3), values.size() - 1) : pick(random, values.size()))]);
    std::vector<std::size_t> out;
    for (std::int64_t k = between(random, 0, 2); k > 0; --k) out.push_back(pick(random, 9));
    std::vector<PlaceId> touched;
    std::vector<bool> writes;
    for (PlaceId place : places)
      if (random() % 3 == 0) touched.push_back(place), writes.push_back(random() % 2 == 0);
    for (Ref made : g.add(in, out, touched, writes)) values.push_back(made);
    if (random() % 4 == 0) g.tasks.back().wait = static_cast<int>(random() % 4);
  }
  for (std::int64_t i = between(random, 1, 4); i > 0; --i) g.result(values[pick(random, values.size())]);
  for (PlaceId place : places) g.result(g.graph->current(place));
}

std::vector<Words> random_inputs(const MixGraph& g, Random& random) {
  std::vector<Words> inputs;
  for (const GraphInput& input : g.graph->inputs()) {
    inputs.emplace_back(static_cast<std::size_t>(concrete(input.type).elements()));
    for (std::uint64_t& word : inputs.back()) word = random();
  }
  return inputs;
}

struct NamedPlan {
  std::string name;
  std::shared_ptr<const Plan> plan;
};

std::vector<NamedPlan> plans_of(const std::shared_ptr<const TaskGraph>& graph, std::span<const bool> donated) {
  Chains chains = aggregate(*graph);
  std::vector<NamedPlan> plans{
      {"plain", plain_plan(graph, chains)},
      {"full", make_plan(graph, chains)},
      {"without in-place", make_plan(graph, chains, {.in_place = false})},
      {"without reuse", make_plan(graph, chains, {.reuse = false})},
      {"donated", make_plan(graph, chains, {.donated = donated})},
  };
  for (const NamedPlan& named : plans) {
    CAPTURE(named.name);
    REQUIRE(verify_plan(*named.plan) == "");
  }
  return plans;
}

struct Backends {
  std::vector<std::unique_ptr<PlanBackend>> all;
  Backends() {
    for (std::uint32_t threads : {1U, 2U, 4U}) all.push_back(make_host_backend({.threads = threads}));
  }
  void check_balance() const {
    for (const auto& backend : all) {
      CHECK(backend->memory().allocations == backend->memory().frees);
      CHECK(backend->memory().live_bytes == 0);
    }
  }
};

constexpr Schedule schedules[] = {Schedule::push, Schedule::pull, Schedule::eager};

// std::vector<bool> has no span.
struct Donations {
  std::unique_ptr<bool[]> flags;
  std::size_t count;
  Donations(std::size_t inputs, Random& random) : flags(new bool[inputs]), count(inputs) {
    for (std::size_t i = 0; i < inputs; ++i) flags[i] = random() % 2 == 0;
  }
  std::span<const bool> span() const { return {flags.get(), count}; }
};

}  // namespace

TEST_CASE(
    "random graphs give the same bits under every plan, schedule and number of threads [A5] [A13] [chains-prop]") {
  Backends backends;
  NoBodies bodies;
  for (std::uint64_t seed : random_seeds(60, 3000)) {
    CAPTURE(seed);
    Random random(seed);
    MixGraph g;
    fill(g, random);
    std::vector<Words> inputs = random_inputs(g, random), expected = g.expected(inputs);
    Donations donated(inputs.size(), random);
    for (const NamedPlan& named : plans_of(g.graph, donated.span()))
      for (const auto& backend : backends.all) {
        auto ready = backend->prepare(named.plan, bodies);
        for (Schedule schedule : schedules) {
          CAPTURE(named.name);
          CAPTURE(backend->name());
          CAPTURE(static_cast<int>(schedule));
          g.forget_runs();
          RunOnce once(*backend, *ready, inputs, {.schedule = schedule});
          REQUIRE(once.words == expected);
          bool each_once = std::all_of(g.tasks.begin(), g.tasks.end(), [&](const MixTask& task) {
            return schedule == Schedule::pull ? task.runs <= 1 : task.runs == 1;
          });
          REQUIRE(each_once);
        }
      }
  }
  backends.check_balance();
}

namespace {

// Which task every result is poisoned by, if it is: by program order, without any backend.
std::vector<NodeId> expected_origins(const MixGraph& g) {
  std::vector<NodeId> origin(g.graph->size());
  auto of = [&](Ref ref) { return ref.is_future() ? origin[ref.id] : NodeId(); };
  for (std::size_t n = 0; n < g.graph->size(); ++n) {
    for (Ref ref : g.graph->in(NodeId(n))) origin[n] = std::min(origin[n], of(ref));  // none is the largest id
    if (!origin[n].valid() && g.tasks[n].fails) origin[n] = NodeId(n);
  }
  std::vector<NodeId> results;
  for (const GraphResult& result : g.graph->results()) results.push_back(of(result.ref));
  return results;
}

}  // namespace

TEST_CASE("random failures poison the same results by the same task, and leave the others whole [A2] [chains-prop]") {
  Backends backends;
  NoBodies bodies;
  for (std::uint64_t seed : random_seeds(60, 3000)) {
    CAPTURE(seed);
    Random random(seed);
    MixGraph g;
    fill(g, random);
    for (MixTask& task : g.tasks) task.fails = random() % 8 == 0;
    std::vector<Words> inputs = random_inputs(g, random), expected = g.expected(inputs);
    std::vector<NodeId> origins = expected_origins(g);
    Donations donated(inputs.size(), random);
    for (const NamedPlan& named : plans_of(g.graph, donated.span()))
      for (const auto& backend : backends.all) {
        auto ready = backend->prepare(named.plan, bodies);
        for (Schedule schedule : schedules) {
          CAPTURE(named.name);
          CAPTURE(backend->name());
          CAPTURE(static_cast<int>(schedule));
          RunOnce once(*backend, *ready, inputs, {.schedule = schedule});
          for (std::size_t i = 0; i < origins.size(); ++i) {
            const Poison* poison = std::get_if<Poison>(&once.outcome.results[i]);
            REQUIRE((poison != nullptr) == origins[i].valid());
            if (poison)
              REQUIRE(poison->origin == origins[i]);
            else
              REQUIRE(once.words[i] == expected[i]);
          }
        }
      }
  }
  backends.check_balance();
}

namespace {

using namespace test_ops;

// A random body: some i32 inputs, ops on what is there, one to three outputs, of which the first may be the
// new version of a place that is input 0.
OpList random_body(Random& random, const std::vector<ArrayType>& inputs, std::size_t outputs, const ArrayType& type) {
  ListWriter w(inputs);
  Array numbers = Array::make(type);
  for (std::int32_t& n : numbers.data<std::int32_t>()) n = static_cast<std::int32_t>(random() % 9) - 4;
  std::vector<std::uint32_t> values{w.constant(numbers)};
  for (std::uint32_t i = 0; i < inputs.size(); ++i) values.push_back(i);
  for (std::int64_t n = between(random, 0, 6); n > 0; --n) {
    auto any = [&] { return values[random() % 2 ? values.size() - 1 : pick(random, values.size())]; };
    std::uint32_t a = any(), b = any();
    switch (random() % 8) {
      case 0:
        values.push_back(w.op(flip, {a}));
        break;
      case 1:
        values.push_back(w.op(view, {a}));
        break;
      case 2:
        values.push_back(w.op(over, {a, b}));
        break;
      default:
        values.push_back(w.op(plus, {a, b}));
        break;
    }
  }
  std::vector<std::uint32_t> out;
  for (std::size_t k = 0; k < outputs; ++k)
    out.push_back(values[values.size() - 1 - std::min(pick(random, 3), values.size() - 1)]);
  return w.finish(out);
}

// A graph of tasks with random bodies on i32 values of one type, with places.
struct BodyGraph {
  std::shared_ptr<TaskGraph> graph = std::make_shared<TaskGraph>();
  std::vector<OpList> lists;  // by node
  WrittenBodies bodies;
  ArrayType type;

  explicit BodyGraph(Random& random)
      : type{Precision::i32, {random() % 3 ? between(random, 1, 20) : between(random, 5000, 20'000)}} {
    bodies.write = [this](const std::string& name) { return lists[std::stoul(name)]; };
    Type written = type.type();
    std::vector<Ref> values{Ref::input(graph->add_input({"x", written, Privilege::in})),
                            Ref::input(graph->add_input({"y", written, Privilege::in}))};
    PlaceId place = graph->add_place("p", values[0]);
    TypeId id = graph->intern(written);
    for (std::int64_t n = between(random, 1, 12); n > 0; --n) {
      Definition definition;
      definition.kind = Definition::Kind::task;
      definition.name = std::to_string(lists.size());
      std::vector<Ref> in;
      std::vector<Requirement> requirements;
      if (random() % 3 == 0) {
        bool writes = random() % 2;
        in.push_back(graph->current(place));
        requirements.push_back({place, writes ? Privilege::inout : Privilege::in});
        definition.inputs = {"p"};
        if (writes) definition.outputs = {"p"};
      }
      for (std::int64_t k = between(random, 0, 2); k > 0; --k)
        in.push_back(values[random() % 3 ? values.size() - 1 : pick(random, values.size())]);
      std::size_t outputs = std::max<std::size_t>(definition.outputs.size(), 1 + pick(random, 2));
      while (definition.inputs.size() < in.size())
        definition.inputs.push_back("x" + std::to_string(definition.inputs.size()));
      while (definition.outputs.size() < outputs)
        definition.outputs.push_back("y" + std::to_string(definition.outputs.size()));
      lists.push_back(random_body(random, std::vector(in.size(), type), outputs, type));
      std::vector<TypeId> out(outputs, id);
      bool hides_version = !requirements.empty() && requirements[0].writes();
      NodeId node = graph->add(graph->define(std::move(definition)), {.in = in, .out = out}, requirements);
      for (std::size_t k = hides_version; k < outputs; ++k) values.push_back(Ref::future(node, k));
    }
    for (std::int64_t i = between(random, 1, 3); i > 0; --i)
      graph->add_result({"r", written, values[values.size() - 1 - std::min(pick(random, 3), values.size() - 1)]});
    graph->add_result({"p", written, graph->current(place)});
  }
};

// Contents of all results; for a poisoned one its origin and fault.
std::vector<std::string> observe(Backend& backend, Executable& executable, const ArrayType& type,
                                 const RunOptions& options) {
  std::vector<Location> inputs;
  for (std::int32_t i = 0; i < 2; ++i) {
    Array array = Array::make(type);
    for (std::size_t k = 0; k < array.data<std::int32_t>().size(); ++k)
      array.data<std::int32_t>()[k] = static_cast<std::int32_t>((k * 7 + 3) % 1000) * (2 * i - 1) - 3003;
    inputs.push_back(backend.allocate(type));
    backend.write(inputs.back(), array);
  }
  Outcome outcome = backend.execute(executable, inputs, options);
  std::vector<std::string> seen;
  for (const auto& result : outcome.results) {
    if (auto* poison = std::get_if<Poison>(&result)) {
      seen.push_back("poisoned by " + std::to_string(poison->origin.value) + ": " + poison->fault.message);
      continue;
    }
    Array array = backend.read(std::get<Location>(result));
    seen.emplace_back(reinterpret_cast<const char*>(array.raw()), array.bytes());
    backend.free(std::get<Location>(result));
  }
  free_inputs(backend, inputs, outcome);
  return seen;
}

}  // namespace

TEST_CASE("fused chains of bodies give the bits and the poison of tasks run one by one [A4] [A5] [chains-prop]") {
  Backends backends;
  for (std::uint64_t seed : random_seeds(100, 5000)) {
    CAPTURE(seed);
    Random random(seed);
    BodyGraph g(random);
    Donations donated(2, random);
    auto plans = plans_of(g.graph, donated.span());
    auto plain = backends.all[0]->prepare(plans[0].plan, g.bodies);
    std::vector<std::string> expected = observe(*backends.all[0], *plain, g.type, {.schedule = Schedule::eager});
    for (const NamedPlan& named : plans)
      for (const auto& backend : backends.all) {
        auto ready = backend->prepare(named.plan, g.bodies);
        for (Schedule schedule : schedules) {
          CAPTURE(named.name);
          CAPTURE(backend->name());
          CAPTURE(static_cast<int>(schedule));
          bool same = observe(*backend, *ready, g.type, {.schedule = schedule}) == expected;
          REQUIRE(same);
        }
      }
  }
  backends.check_balance();
}

}  // namespace taskspec::schedule_prop_test
