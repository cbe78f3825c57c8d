#include "ir/plan/plan.hpp"

#include <doctest/doctest.h>

#include "ir/verify/verify.hpp"
#include "tests/unit/fake_ops.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::plan_test {

namespace {

std::shared_ptr<const Plan> planned(const Sketch& s, const PlanOptions& options = {}) {
  std::shared_ptr<const Plan> plan = make_plan(s.graph, aggregate(*s.graph), options);
  CHECK(verify_plan(*plan) == "");
  return plan;
}

const Buffer& value(const Plan& plan, NodeId node, std::size_t slot = 0) {
  for (const PlanTask& task : plan.tasks)
    if (task.node == node) return plan.buffers[plan.operands[task.first_out + slot].index()];
  FAIL("no such task");
  return plan.buffers[0];
}

NodeId relu(Sketch& s, Ref x) { return s.add(s.graph->define(definition_of(fake_relu)), {x}, {s.graph->type(x)}); }

}  // namespace

TEST_CASE("[A15] a chain is one step, and its inner values never reach the table") {
  Sketch s = pipeline();
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(plan->steps() == 1);
  CHECK(value(*plan, NodeId(0)).home == Buffer::Home::scratch);
  CHECK(value(*plan, NodeId(2)).home == Buffer::Home::result);
  CHECK(plan->arena_bytes == 0);
  CHECK(plan->scratch_bytes == 3 * 64);    // y beside mean and dev, each on lines of its own
  CHECK(plan->peak_bytes == 4);            // e
  CHECK(plan->peak_without_chains == 36);  // y, mean and dev at once
}

TEST_CASE("steps are chains, ordered as their tasks are") {
  Sketch s = diamond();
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(plan->steps() == 4);
  CHECK(plan->predecessors == LargeVector<std::uint32_t>{0, 1, 1, 2});
  CHECK(plan->successors == LargeVector<std::uint32_t>{1, 2, 3, 3});
  CHECK(value(*plan, NodeId(0)).home == Buffer::Home::arena);
  CHECK(value(*plan, NodeId(0)).last == StepId(2));
}

TEST_CASE("element-wise ops of a chain work in one place, which is that of the result") {
  Sketch s("line");
  NodeId a = relu(s, s.input("x")), b = relu(s, y(a)), c = relu(s, y(b));
  s.result("y", y(c));
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(value(*plan, a).shares == UINT32_MAX);  // the input belongs to the caller
  CHECK(value(*plan, b).shares == 0);
  CHECK(value(*plan, c).shares == 1);
  CHECK(value(*plan, a).home == Buffer::Home::result);
  CHECK(plan->scratch_bytes == 0);
  CHECK(planned(s, {.in_place = false})->scratch_bytes == 2 * 64);
}

TEST_CASE("a donated input is overwritten by its last reader only") {
  Sketch s("g");
  Ref x = s.input("x");
  NodeId a = relu(s, x), b = relu(s, x), c = s.add("join", {y(a), y(b)});
  s.result("y", y(c));
  const bool donated[] = {true};
  std::shared_ptr<const Plan> plan = planned(s, {.donated = donated});
  CHECK(value(*plan, a).shares == UINT32_MAX);
  CHECK(value(*plan, b).shares == UINT32_MAX);  // a and b may run at once: neither is last
  Sketch line("line");
  NodeId only = relu(line, line.input("x"));
  line.add("use", {y(only)});
  plan = planned(line, {.donated = donated});
  CHECK(value(*plan, only).home == Buffer::Home::input);
}

TEST_CASE("of two branches only the join may overwrite what both read") {
  Sketch s("g");
  NodeId src = s.add("src", {});
  NodeId left = relu(s, y(src)), right = relu(s, y(src));
  NodeId join = s.add("join", {y(left), y(right)});
  NodeId last = relu(s, y(join));
  s.result("y", y(last));
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(value(*plan, left).shares == UINT32_MAX);
  CHECK(value(*plan, right).shares == UINT32_MAX);
  CHECK(plan->arena_bytes == 3 * 64);
}

TEST_CASE("a residual connection is overwritten at its end") {
  Sketch s("g");
  NodeId x = s.add("src", {});
  NodeId inner = s.add("conv", {y(x)});
  NodeId add = s.add(s.graph->define(definition_of(fake_relu)), {y(x), y(inner)}, {f32({4})});
  s.result("y", y(s.add("use", {y(add)})));
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(value(*plan, add).shares == 0);  // conv ran before, so add is the last reader of x
}

TEST_CASE("bytes are used again along a line of forks and joins") {
  auto arena_of = [](int diamonds, bool reuse) {
    Sketch s("g");
    NodeId now = s.add("src", {});
    for (int i = 0; i < diamonds; ++i) {
      NodeId left = s.add("left", {y(now)}), right = s.add("right", {y(now)});
      now = s.add("join", {y(left), y(right)});
    }
    s.result("y", y(now));
    return planned(s, {.reuse = reuse})->arena_bytes;
  };
  CHECK(arena_of(1, true) == 3 * 64);
  CHECK(arena_of(100, true) == 3 * 64);
  CHECK(arena_of(100, false) == (3 * 100) * 64);
}

TEST_CASE("bytes are used again in a stencil, where the readers of a value have nothing but the end in common") {
  auto arena_of = [](std::size_t width, int turns, bool reuse) {
    Sketch s("stencil");
    std::vector<NodeId> row;
    for (std::size_t i = 0; i < width; ++i) row.push_back(s.add("src", {}));
    for (int turn = 0; turn < turns; ++turn) {
      std::vector<NodeId> next;
      for (std::size_t i = 0; i < width; ++i)
        next.push_back(s.add("step", {y(row[i == 0 ? 0 : i - 1]), y(row[i]), y(row[std::min(i + 1, width - 1)])}));
      row = next;
    }
    std::vector<Ref> all;
    for (NodeId node : row) all.push_back(y(node));
    s.result("y", y(s.add(s.define("all", {"parts"}, {"y"}), all, {f32({4})})));
    return planned(s, {.reuse = reuse})->arena_bytes;
  };
  CHECK(arena_of(10, 60, false) == 610 * 64);
  CHECK(arena_of(10, 60, true) <= 3 * 10 * 64);
}

TEST_CASE("bytes are used again in a graph with saved activations") {
  // Forward f0..fn, then backward bn..b0, where each reads the activation saved on the way and the gradient before.
  Sketch s("training");
  constexpr int layers = 20;
  std::vector<NodeId> forward{s.add("f", {s.input("x")})};
  for (int i = 1; i < layers; ++i) forward.push_back(s.add("f", {y(forward.back())}));
  NodeId gradient = s.add("loss", {y(forward.back())});
  for (int i = layers; i-- > 0;) gradient = s.add("b", {y(gradient), y(forward[static_cast<std::size_t>(i)])});
  s.result("g", y(gradient));
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(plan->arena_bytes <= (layers + 3) * 64);
}

TEST_CASE("bytes are used again by the turns of a loop that trains, however many there are") {
  // What an update frees lies at the update: one of several steps before the first that reads a weight.
  auto arena_of = [](int turns) {
    Sketch s("loop");
    const DefinitionId reverse = s.define("reverse", {"dy", "x"}, {"dx", "dw"}),
                       update = s.define("update", {"w", "dw"}, {"w"});
    constexpr std::size_t layers = 4;
    std::vector<NodeId> weights, reverses(layers);
    std::vector<PlaceId> places;
    for (std::size_t i = 0; i < layers; ++i) {
      weights.push_back(s.add("make", {}));
      places.push_back(s.graph->add_place("w", y(weights[i])));
    }
    for (int turn = 0; turn < turns; ++turn) {
      std::vector<NodeId> made{s.add("f", {s.input("x"), y(weights[0])})};
      for (std::size_t i = 1; i < layers; ++i) made.push_back(s.add("f", {y(made.back()), y(weights[i])}));
      Ref gradient = y(s.add("loss", {y(made.back())}));
      for (std::size_t i = layers; i-- > 0; gradient = y(reverses[i]))
        reverses[i] = s.add(reverse, {gradient, y(made[i])}, {f32({4}), f32({4})});
      for (std::size_t i = 0; i < layers; ++i)
        weights[i] = s.add(update, {y(weights[i]), Ref::future(reverses[i], 1)}, {f32({4})},
                           {{places[i], Privilege::inout, 0, 0}});
    }
    std::vector<Ref> all;
    for (NodeId weight : weights) all.push_back(y(weight));
    s.result("y", y(s.add(s.define("all", {"parts"}, {"y"}), all, {f32({4})})));
    return planned(s)->arena_bytes;
  };
  CHECK(arena_of(100) == arena_of(2));
}

TEST_CASE("versions of a place lie in one place; the caller's is copied first") {
  Sketch s = hazard();
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(value(*plan, NodeId(0), 1).shares == UINT32_MAX);  // r of bump#0: the input is not ours
  CHECK(value(*plan, NodeId(2), 1).shares == 1);           // r of bump#1 over r of bump#0: peek has run
  CHECK(value(*plan, NodeId(2), 1).home == Buffer::Home::arena);
  const bool donated[] = {true, false};
  plan = planned(s, {.donated = donated});
  CHECK(value(*plan, NodeId(2), 1).home == Buffer::Home::input);
}

TEST_CASE("a task that reads a place through a second operand does not overwrite it") {
  Sketch s("g");
  NodeId make = s.add("make", {});
  PlaceId place = s.graph->add_place("r", y(make));
  NodeId both =
      s.add(s.define("both", {"r", "d"}, {"r"}), {y(make), y(make)}, {f32({4})}, {{place, Privilege::inout, 0, 0}});
  s.result("r", y(both));
  CHECK(value(*planned(s), both).shares == UINT32_MAX);
}

TEST_CASE("a reshape has the bytes of its input unless that would make the caller's bytes a result") {
  Sketch s("g");
  DefinitionId reshape = s.graph->define(definition_of(fake_reshape));
  NodeId inner = s.add(reshape, {s.input("x")}, {f32({2, 2})});
  NodeId use = s.add("use", {y(inner)});
  NodeId outer = s.add(reshape, {s.input("z")}, {f32({2, 2})});
  s.result("y", y(use));
  s.result("z", y(outer));
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(value(*plan, inner).home == Buffer::Home::input);
  CHECK(value(*plan, outer).home == Buffer::Home::result);
  CHECK(value(*plan, outer).shares == UINT32_MAX);
}

TEST_CASE("results that are no buffer of their own are to be copied") {
  Sketch s("g");
  Ref x = s.input("x");
  NodeId a = s.add("a", {x});
  s.result("once", y(a));
  s.result("twice", y(a));
  s.result("same", x);
  std::shared_ptr<const Plan> plan = planned(s);
  CHECK(plan->results[0] == plan->results[1]);
  CHECK(plan->buffers[plan->results[1].index()].index == 0);
  CHECK(plan->buffers[plan->results[2].index()].home == Buffer::Home::input);
}

TEST_CASE("tasks without bytes need none, also in large numbers") {
  Sketch s("g");
  DefinitionId empty = s.define("empty", {"a", "b"}, {"y"});
  NodeId previous = s.add(empty, {}, {f32({0})}), now = previous;
  for (int i = 0; i < 100'000; ++i) {
    NodeId next = s.add(empty, {y(now), y(previous)}, {f32({0})});
    previous = now;
    now = next;
  }
  std::shared_ptr<const Plan> plan = make_plan(s.graph, aggregate(*s.graph));
  CHECK(plan->arena_bytes == 0);
  CHECK(plan->types.size() == 1);
}

TEST_CASE("a line of many steps is planned without deep recursion or long searches") {
  Sketch s("g");
  DefinitionId task = s.define("task", {"a", "b"}, {"y"});
  NodeId root = s.add(task, {}, {f32({4})});
  std::vector<NodeId> nodes{root};
  for (int i = 0; i < 50'000; ++i) nodes.push_back(s.add(task, {y(nodes.back()), y(root)}, {f32({4})}));
  std::vector<Ref> all;
  for (std::size_t i = 0; i < nodes.size(); i += 50) all.push_back(y(nodes[i]));  // values that live to the very end
  s.result("y", y(s.add(s.define("all", {"parts"}, {"y"}), all, {f32({4})})));
  std::shared_ptr<const Plan> plan = make_plan(s.graph, aggregate(*s.graph));
  CHECK(plan->arena_bytes <= (all.size() + 4) * 64);
}

TEST_CASE("what no machine holds is an error before anything runs") {
  Sketch s("g");
  NodeId a = s.add("a", {}, f64({std::int64_t{1} << 40}));
  s.add("b", {y(a)});
  s.add("c", {y(a)});
  CHECK_THROWS_WITH_AS(make_plan(s.graph, aggregate(*s.graph)), doctest::Contains("E5008"), Error);
  Sketch t("g");
  t.add("a", {}, f64({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  CHECK_THROWS_WITH_AS(make_plan(t.graph, aggregate(*t.graph)), doctest::Contains("E5001"), Error);
}

TEST_CASE("a graph with symbols in its types cannot be planned") {
  Sketch s("g");
  s.add("a", {s.input("x")});
  CHECK(has_concrete_types(*s.graph));
  s.add("b", {s.input("z", f32({Dim(std::make_shared<const SymbolInfo>(SymbolInfo{"N", 1}))}))});
  CHECK_FALSE(has_concrete_types(*s.graph));
}

}  // namespace taskspec::plan_test
