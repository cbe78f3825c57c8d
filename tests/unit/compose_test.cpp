#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/property/random_graph.hpp"

namespace taskspec::compose_test {

namespace {

Composite one(const TaskGraph& graph, NodeId node, std::span<const Ref> received = {}) {
  return compose(graph, {&node, 1}, received);
}

std::string text(const TaskGraph& graph, const std::vector<Ref>& refs) {
  std::string out;
  for (Ref ref : refs) {
    if (!out.empty()) out += ", ";
    out += ref.is_future() ? graph.label(ref.node()) + "." + graph.slot_out(ref.node(), ref.slot)
                           : graph.inputs()[ref.id].name;
  }
  return out;
}

using RefName = std::tuple<Ref::Kind, std::uint32_t, std::uint32_t>;
RefName name_of(Ref ref) { return {ref.kind, ref.id, ref.slot}; }

// Section 3 with sets: is this composite what its members give?
bool is_right(const RandomGraph& g, const Composite& composite) {
  const TaskGraph& graph = *g.graph;
  std::set<NodeId> members(composite.steps.begin(), composite.steps.end());
  std::set<RefName> in, out, found_in, found_out;
  auto is_inside = [&](Ref ref) { return ref.is_future() && members.count(ref.node()); };
  for (std::size_t i = 0; i < graph.size(); ++i)
    for (Ref ref : graph.in(NodeId(i))) {
      if (members.count(NodeId(i)) && !is_inside(ref)) in.insert(name_of(ref));
      if (!members.count(NodeId(i)) && is_inside(ref)) out.insert(name_of(ref));
    }
  for (const GraphResult& result : graph.results())
    if (is_inside(result.ref)) out.insert(name_of(result.ref));
  for (Ref ref : g.received)
    if (is_inside(ref)) out.insert(name_of(ref));
  NodeId last = composite.steps.back();
  for (std::size_t slot = 0; slot < graph.out(last).size(); ++slot) out.insert(name_of(Ref::future(last, slot)));
  for (Ref ref : composite.in) found_in.insert(name_of(ref));
  for (Ref ref : composite.out) found_out.insert(name_of(ref));
  return in == found_in && out == found_out && found_in.size() == composite.in.size() &&
         found_out.size() == composite.out.size();
}

// Runs F of a composite: every task once, its results kept for all who refer to them.
std::map<NodeId, int> runs_of(const TaskGraph&, const Composite& composite) {
  std::map<NodeId, int> runs;
  for (NodeId node : composite.steps) ++runs[node];
  return runs;
}

// The mistake: every reference runs its producer anew.
void run_again(const TaskGraph& graph, NodeId node, const std::set<NodeId>& members, std::map<NodeId, int>& runs) {
  ++runs[node];
  for (Ref ref : graph.in(node))
    if (ref.is_future() && members.count(ref.node())) run_again(graph, ref.node(), members, runs);
}

bool ran_once(const std::map<NodeId, int>& runs, const Composite& composite) {
  for (NodeId node : composite.steps)
    if (auto found = runs.find(node); found == runs.end() || found->second != 1) return false;
  return runs.size() == composite.steps.size();
}

std::vector<NodeId> some_nodes(std::mt19937_64& random, const TaskGraph& graph, std::size_t count) {
  std::set<NodeId> nodes;
  while (nodes.size() < count)
    nodes.insert(NodeId(static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(graph.size()) - 1))));
  return {nodes.begin(), nodes.end()};
}

}  // namespace

TEST_CASE("[A6] inputs are those of both tasks except what the first gives the second") {
  Sketch s("g");
  Ref x = s.input("x"), k = s.input("k");
  NodeId first = s.add("first", {x, k}), second = s.add("second", {y(first), x});
  Composite both = compose(*s.graph, one(*s.graph, first), one(*s.graph, second));
  CHECK(text(*s.graph, both.in) == "x, k");  // the shared x is one input
  CHECK(text(*s.graph, both.out) == "second#0.y");
  CHECK(both.steps == std::vector{first, second});
}

TEST_CASE("[A6] one future in two slots is one reference, and its task one step") {
  Sketch s("g");
  NodeId first = s.add("first", {s.input("x")}), second = s.add("second", {y(first), y(first)});
  Composite both = compose(*s.graph, one(*s.graph, first), one(*s.graph, second));
  CHECK(text(*s.graph, both.in) == "x");
  CHECK(both.steps == std::vector{first, second});
}

TEST_CASE("[A6] an output of the first that somebody else needs stays an output") {
  Sketch s("g");
  NodeId first = s.add(s.define("first", {"x"}, {"p", "q", "dead"}), {s.input("x")}, {f32({4}), f32({4}), f32({4})});
  NodeId second = s.add("second", {y(first, 0)});
  auto both = [&](std::span<const Ref> received = {}) {
    return text(*s.graph, compose(*s.graph, one(*s.graph, first), one(*s.graph, second), received).out);
  };
  CHECK(both() == "second#0.y");
  std::vector<Ref> received{y(first, 1)};
  CHECK(both(received) == "first#0.q, second#0.y");  // received by the host
  s.add("other", {y(first, 0)});
  CHECK(both() == "first#0.p, second#0.y");  // read by a task outside
  s.result("r", y(first, 2));
  CHECK(both() == "first#0.p, first#0.dead, second#0.y");
}

TEST_CASE("[A6] equal slot names are different references") {
  Sketch s("g");
  NodeId before = s.add("f", {s.input("x")});
  NodeId first = s.add("f", {y(before)}), second = s.add("g", {y(before), y(first)});
  Composite both = compose(*s.graph, one(*s.graph, first), one(*s.graph, second));
  CHECK(text(*s.graph, both.in) == "f#0.y");
  CHECK(text(*s.graph, both.out) == "g#0.y");
}

TEST_CASE("[A6] a version of a place that the first writes is inside, the older one is not") {
  Sketch s = hazard();
  Composite both = compose(*s.graph, one(*s.graph, NodeId(0)), one(*s.graph, NodeId(1)));
  CHECK(text(*s.graph, both.in) == "r, d");
  CHECK(text(*s.graph, both.out) == "bump#0.t, bump#0.r, peek#0.m");  // bump#1 needs both of bump#0
}

TEST_CASE("[A7] composition is associative and has an identity") {
  for (std::uint64_t seed : random_seeds(200, 1'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph(random, {.tasks = between(random, 3, 30), .places = 2});
    std::vector<NodeId> nodes = some_nodes(random, *g.graph, 3);
    auto task = [&](std::size_t i) { return one(*g.graph, nodes[i], g.received); };
    auto after = [&](const Composite& second, const Composite& first) {
      return compose(*g.graph, first, second, g.received);
    };
    Composite left = after(after(task(2), task(1)), task(0)), right = after(task(2), after(task(1), task(0)));
    REQUIRE(left == right);
    REQUIRE(left == compose(*g.graph, nodes, g.received));
    REQUIRE(is_right(g, left));
    REQUIRE(after(task(0), Composite()) == task(0));
    REQUIRE(after(Composite(), task(0)) == task(0));
    REQUIRE(ran_once(runs_of(*g.graph, left), left));
  }
}

TEST_CASE("[A13] [chains-prop] mutation caught: live outputs dropped") {
  int caught = 0;
  for (std::uint64_t seed : random_seeds(200, 1'000)) {
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph(random, {.tasks = 20});
    std::vector<NodeId> nodes = some_nodes(random, *g.graph, 2);
    Composite wrong = compose(*g.graph, nodes, g.received);
    std::erase_if(wrong.out, [&](Ref ref) { return ref.node() != nodes.back(); });
    caught += !is_right(g, wrong);
  }
  CHECK(caught > 50);
}

TEST_CASE("[A13] [chains-prop] mutation caught: the first task run again for a shared input") {
  int caught = 0;
  for (std::uint64_t seed : random_seeds(200, 1'000)) {
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph(random, {.tasks = 20});
    Chains chains = aggregate(*g.graph);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      Composite composite = compose(*g.graph, chains.members(ChainId(c)));
      std::map<NodeId, int> runs;
      run_again(*g.graph, composite.steps.back(), {composite.steps.begin(), composite.steps.end()}, runs);
      caught += !ran_once(runs, composite);
    }
  }
  CHECK(caught > 10);
}

}  // namespace taskspec::compose_test
