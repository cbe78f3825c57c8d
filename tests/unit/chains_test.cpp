#include <doctest/doctest.h>

#include "ir/plan/plan.hpp"
#include "ir/show/graph_text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::chains_test {

namespace {

Chains checked(const TaskGraph& graph, const AggregateOptions& options = {}) {
  Chains chains = aggregate(graph, options);
  CHECK(verify_chains(graph, chains) == "");
  return chains;
}

}  // namespace

TEST_CASE("[A10] two outputs that go to one task do not end a chain") {
  Sketch s = pipeline();
  Chains chains = checked(*s.graph);
  CHECK(lists(*s.graph, chains) == "[[Scale.apply, Moments.apply, energy]]");
  CHECK(chains.steps(NodeId(2)) == 3);
  CHECK(chains_text(*s.graph, chains) ==
        "pipeline: 3 tasks in 1 chain\n"
        "\n"
        "[Scale.apply, Moments.apply, energy]\n"
        "  starts with Scale.apply#0, because it needs only inputs and constants (input)\n"
        "  ends with energy#0, because it is the result e (result)\n");
}

TEST_CASE("[A8] [A9] [A11] source and sink rule end chains at joins and forks") {
  Sketch s = diamond();
  Chains chains = checked(*s.graph);
  CHECK(lists(*s.graph, chains) == "[[src], [inc, inc], [dbl], [add, inc]]");
  CHECK(chains.first(*s.graph, ChainId(3)).rule == Stop::source);
  CHECK(chains.last(*s.graph, ChainId(0)).rule == Stop::sink);
  CHECK(chains_text(*s.graph, chains) ==
        "diamond: 6 tasks in 4 chains\n"
        "\n"
        "[src]\n"
        "  starts with src#0, because it needs only inputs and constants (input)\n"
        "  ends with src#0, because it branches to inc#0 and dbl#0 (sink rule)\n"
        "\n"
        "[inc, inc]\n"
        "  starts with inc#0, because src#0 before it branches to inc#0 and dbl#0 (sink rule)\n"
        "  ends with inc#1, because add#0 after it joins inc#1 and dbl#0 (source rule)\n"
        "\n"
        "[dbl]\n"
        "  starts with dbl#0, because src#0 before it branches to inc#0 and dbl#0 (sink rule)\n"
        "  ends with dbl#0, because add#0 after it joins inc#1 and dbl#0 (source rule)\n"
        "\n"
        "[add, inc]\n"
        "  starts with add#0, because it joins inc#1 and dbl#0 (source rule)\n"
        "  ends with inc#2, because it is the result y (result)\n");
}

TEST_CASE("[A12] order edges end chains") {
  Sketch s = hazard();
  Chains chains = checked(*s.graph);
  CHECK(lists(*s.graph, chains) == "[[bump], [peek], [bump], [add]]");
  CHECK(chains_text(*s.graph, chains) ==
        "hazard: 4 tasks in 4 chains\n"
        "\n"
        "[bump]\n"
        "  starts with bump#0, because it needs only inputs and constants (input)\n"
        "  ends with bump#0, because it must precede peek#0 and bump#1 (order of r)\n"
        "\n"
        "[peek]\n"
        "  starts with peek#0, because bump#0 before it must precede peek#0 and bump#1 (order of r)\n"
        "  ends with peek#0, because it must precede bump#1 and add#0 (order of r)\n"
        "\n"
        "[bump]\n"
        "  starts with bump#1, because it must follow bump#0 and peek#0 (order of r)\n"
        "  ends with bump#1, because add#0 after it joins peek#0 and bump#1 (source rule)\n"
        "\n"
        "[add]\n"
        "  starts with add#0, because it joins peek#0 and bump#1 (source rule)\n"
        "  ends with add#0, because it is the result t (result)\n");
}

TEST_CASE("versions of a place may chain when nobody else touches them") {
  Sketch s("g");
  PlaceId place = s.graph->add_place("r", s.input("r"));
  DefinitionId bump = s.define("bump", {"r"}, {"r"});
  for (int i = 0; i < 3; ++i) s.add(bump, {s.graph->current(place)}, {f32({4})}, {{place, Privilege::inout, 0, 0}});
  CHECK(lists(*s.graph, checked(*s.graph)) == "[[bump, bump, bump]]");
}

TEST_CASE("a result ends a chain inside, not at its end") {
  Sketch s("g");
  NodeId a = s.add("a", {s.input("x")}), b = s.add("b", {y(a)}), c = s.add("c", {y(b)});
  s.result("last", y(c));
  CHECK(lists(*s.graph, checked(*s.graph)) == "[[a, b, c]]");
  s.result("inner", y(b));
  Chains chains = checked(*s.graph);
  CHECK(lists(*s.graph, chains) == "[[a, b], [c]]");
  CHECK(chains.last(*s.graph, ChainId(0)).rule == Stop::result);
  CHECK(last_text(*s.graph, chains, ChainId(0)) == "ends with b#0, because it is also the result inner (result)");
  CHECK(first_text(*s.graph, chains, ChainId(1)) ==
        "starts with c#0, because b#0 before it is also the result inner (result)");
}

TEST_CASE("a receive counts as a consumer") {
  Sketch s("g");
  NodeId a = s.add("a", {s.input("x")}), b = s.add("b", {y(a)});
  std::vector<Ref> received{y(a)};
  Chains chains = checked(*s.graph, {.received = received});
  CHECK(lists(*s.graph, chains) == "[[a], [b]]");
  CHECK(last_text(*s.graph, chains, ChainId(0)) == "ends with a#0, because it is also received by the host (result)");
  received[0] = y(b);
  CHECK(lists(*s.graph, checked(*s.graph, {.received = received})) == "[[a, b]]");
}

TEST_CASE("control flow and calls never chain") {
  Sketch s("g");
  NodeId a = s.add("a", {s.input("x")});
  NodeId loop = s.add(s.define("for", {}, {"acc"}, Definition::Kind::loop), {y(a)}, {f32({4})});
  NodeId call = s.add(s.define("power", {"x"}, {"value"}, Definition::Kind::call), {y(loop)}, {f32({4})});
  s.add("b", {y(call)});
  Chains chains = checked(*s.graph);
  CHECK(lists(*s.graph, chains) == "[[a], [for], [power], [b]]");
  CHECK(chains.last(*s.graph, ChainId(0)).rule == Stop::control);
  CHECK(last_text(*s.graph, chains, ChainId(0)) ==
        "ends with a#0, because for#0 after it is a loop, and control flow never chains (control)");
  CHECK(first_text(*s.graph, chains, ChainId(3)) ==
        "starts with b#0, because power#0 before it is a call of power, and calls never chain (control)");
}

TEST_CASE("the sink rule per output lets a task go on past its other outputs") {
  Sketch s("g");
  NodeId two = s.add(s.define("two", {"x"}, {"p", "q"}), {s.input("x")}, {f32({4}), f32({4})});
  NodeId left = s.add("left", {y(two, 0)}), right = s.add("right", {y(two, 1)});
  s.add("join", {y(left), y(right)});
  CHECK(lists(*s.graph, checked(*s.graph)) == "[[two], [left], [right], [join]]");
  Chains chains = checked(*s.graph, {.sink_rule = SinkRule::output});
  CHECK(lists(*s.graph, chains) == "[[two, left], [right], [join]]");
  CHECK(chains.first(*s.graph, ChainId(1)).rule == Stop::sink);
  CHECK(chains.last(*s.graph, ChainId(0)).rule == Stop::source);
  CHECK(first_text(*s.graph, chains, ChainId(1)) ==
        "starts with right#0, because two#0 before it branches to left#0 and right#0 (sink rule)");
}

TEST_CASE("many consumers are named up to four") {
  Sketch s("g");
  NodeId a = s.add("a", {});
  for (int i = 0; i < 1000; ++i) s.add("f", {y(a)});
  Chains chains = checked(*s.graph);
  CHECK(chains.last(*s.graph, ChainId(0)).because.size() == 8);
  CHECK(last_text(*s.graph, chains, ChainId(0)) ==
        "ends with a#0, because it branches to f#0, f#1, f#2, f#3 and others (sink rule)");
}

TEST_CASE("an empty graph has no chains") {
  TaskGraph graph;
  CHECK(checked(graph).size() == 0);
  CHECK(chains_text(graph, aggregate(graph)) == ": 0 tasks in 0 chains\n");
}

TEST_CASE("links kept while recording tell the place in a chain") {
  Sketch s("g");
  ChainLinks links;
  auto add = [&](const std::string& name, std::vector<Ref> in) {
    NodeId node = s.add(name, std::move(in));
    links.add(*s.graph, node);
    return node;
  };
  NodeId a = add("a", {s.input("x")}), b = add("b", {y(a)}), c = add("c", {y(b), y(b)});
  CHECK(links.steps(*s.graph, c) == 3);
  NodeId other = add("other", {y(a)});
  CHECK(links.steps(*s.graph, c) == 2);
  CHECK(links.steps(*s.graph, other) == 1);
  links.receive(b);
  CHECK(links.steps(*s.graph, c) == 1);
  CHECK(links.steps(*s.graph, b) == 1);
}

}  // namespace taskspec::chains_test
