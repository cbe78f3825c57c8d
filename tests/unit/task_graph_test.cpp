#include <doctest/doctest.h>

#include <boost/graph/topological_sort.hpp>

#include "ir/graph/boost_graph.hpp"
#include "ir/plan/plan.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::task_graph_test {

TEST_CASE("futures are edges, sorted by where they come from") {
  Sketch s("g");
  NodeId a = s.add("a", {}), b = s.add("b", {});
  NodeId m = s.add(s.define("m", {"p", "q", "r"}, {"y"}), {y(b), y(a), y(b)}, {f32({4})});
  CHECK(edges_text(*s.graph, EdgeKind::future) == "[a#0.y -> m#0.q, b#0.y -> m#0.p, b#0.y -> m#0.r]");
  CHECK(s.graph->edges_into(m).size() == 3);
  CHECK(s.graph->edges_into(a).empty());
  CHECK(verify_graph(*s.graph) == "");
}

TEST_CASE("[A12] hazards of a place are order edges, one per pair and place") {
  Sketch s = hazard();
  CHECK(edges_text(*s.graph, EdgeKind::order) ==
        "[bump#0 -> peek#0 (RAW r), bump#0 -> bump#1 (RAW r), peek#0 -> bump#1 (WAR r)]");
  CHECK(edges_text(*s.graph, EdgeKind::future) == "[bump#0.t -> bump#1.d, peek#0.m -> add#0.b, bump#1.t -> add#0.a]");
  CHECK(s.graph->in(NodeId(1))[0].through_place);
  CHECK_FALSE(s.graph->in(NodeId(0))[0].through_place);  // version 0 is no version that a task made
  CHECK(verify_graph(*s.graph) == "");
}

TEST_CASE("a task that writes a place without reading it comes after writer and readers") {
  Sketch s("g");
  PlaceId place = s.graph->add_place("r", s.input("r"));
  DefinitionId set = s.define("set", {}, {"r"}), get = s.define("get", {"r"}, {"v"});
  s.add(set, {}, {f32({4})}, {{place, Privilege::out}});
  s.add(set, {}, {f32({4})}, {{place, Privilege::out}});
  s.add(get, {s.graph->current(place)}, {f32({4})}, {{place, Privilege::in, 0}});
  s.add(get, {s.graph->current(place)}, {f32({4})}, {{place, Privilege::in, 0}});
  s.add(set, {}, {f32({4})}, {{place, Privilege::out}});
  CHECK(edges_text(*s.graph, EdgeKind::order) ==
        "[set#0 -> set#1 (WAW r), set#1 -> get#0 (RAW r), set#1 -> get#1 (RAW r), set#1 -> set#2 (WAW r), "
        "get#0 -> set#2 (WAR r), get#1 -> set#2 (WAR r)]");
  CHECK(verify_graph(*s.graph) == "");
}

TEST_CASE("what one requirement makes of another one of the same place") {
  auto why = [](Privilege earlier, Privilege later) {
    return hazard(Requirement{PlaceId(0), earlier}, Requirement{PlaceId(0), later});
  };
  CHECK(why(Privilege::in, Privilege::in) == Hazard::none);
  for (Privilege writer : {Privilege::out, Privilege::inout}) {
    CHECK(why(Privilege::in, writer) == Hazard::war);
    CHECK(why(writer, Privilege::in) == Hazard::raw);
    CHECK(why(writer, Privilege::inout) == Hazard::raw);  // it reads what the writer left
    CHECK(why(writer, Privilege::out) == Hazard::waw);
  }
}

TEST_CASE("readers of version 0 hold back its first writer") {
  Sketch s("g");
  PlaceId place = s.graph->add_place("r", s.input("r"));
  DefinitionId set = s.define("set", {"r"}, {"r"}), get = s.define("get", {"r"}, {"v"});
  s.add(get, {s.graph->current(place)}, {f32({4})}, {{place, Privilege::in, 0}});
  s.add(set, {s.graph->current(place)}, {f32({4})}, {{place, Privilege::inout, 0, 0}});
  CHECK(edges_text(*s.graph, EdgeKind::order) == "[get#0 -> set#0 (WAR r)]");
}

TEST_CASE("version 0 of a place that a task made is read by a future") {
  Sketch s("g");
  NodeId make = s.add("make", {});
  PlaceId place = s.graph->add_place("r", y(make));
  s.add(s.define("get", {"r"}, {"v"}), {s.graph->current(place)}, {f32({4})}, {{place, Privilege::in, 0}});
  CHECK(edges_text(*s.graph, EdgeKind::order) == "[]");
  CHECK(edges_text(*s.graph, EdgeKind::future) == "[make#0.y -> get#0.r]");
}

TEST_CASE("two places between the same two tasks are two edges; reading one twice is one") {
  Sketch s("g");
  PlaceId p = s.graph->add_place("p", s.input("p")), q = s.graph->add_place("q", s.input("q"));
  DefinitionId both = s.define("both", {"p", "q"}, {"p", "q"});
  auto add = [&](Ref a, Ref b) {
    s.add(both, {a, b}, {f32({4}), f32({4})}, {{p, Privilege::inout, 0, 0}, {q, Privilege::inout, 1, 1}});
  };
  add(s.graph->current(p), s.graph->current(q));
  add(s.graph->current(p), s.graph->current(q));
  Ref version = s.graph->current(p);
  s.add(s.define("twice", {"a", "b"}, {"v"}), {version, version}, {f32({4})},
        {{p, Privilege::in, 0}, {p, Privilege::in, 1}});
  CHECK(edges_text(*s.graph, EdgeKind::order) ==
        "[both#0 -> both#1 (RAW p), both#0 -> both#1 (RAW q), both#1 -> twice#0 (RAW p)]");
  CHECK(verify_graph(*s.graph) == "");
}

TEST_CASE("names count calls per scope and name") {
  Sketch s("g");
  NodeId first = s.add("f", {});
  ScopeId outer = s.graph->open_scope(ScopeId(0), "pipeline", {}),
          again = s.graph->open_scope(ScopeId(0), "pipeline", {});
  ScopeId inner = s.graph->open_scope(outer, "part", {});
  s.scope = inner;
  NodeId nested = s.add("f", {});
  NodeId namesake = s.add(s.define("f", {"other"}, {"slots"}), {y(first)}, {f32({4})});  // another definition, one name
  s.scope = again;
  NodeId apart = s.add("f", {});
  CHECK(s.graph->path(first) == "f#0");
  CHECK(s.graph->path(nested) == "pipeline#0/part#0/f#0");
  CHECK(s.graph->path(namesake) == "pipeline#0/part#0/f#1");
  CHECK(s.graph->path(apart) == "pipeline#1/f#0");
  CHECK(s.graph->label(namesake) == "f#1");
  CHECK(verify_graph(*s.graph) == "");
}

TEST_CASE("types and definitions are found again") {
  Sketch s("g");
  auto symbol = [](std::uint32_t id) { return std::make_shared<const SymbolInfo>(SymbolInfo{"N", id}); };
  Symbol n = symbol(1), other = symbol(2);
  TypeId id = s.graph->intern(f32({Dim(n), 3}));
  CHECK(s.graph->intern(f32({Dim(n), 3})) == id);
  CHECK(s.graph->intern(f32({Dim(other), 3})) != id);  // the same text, another symbol
  CHECK(s.graph->intern(f64({Dim(n), 3})) != id);
  CHECK(s.graph->type(id) == f32({Dim(n), 3}));
  CHECK(s.define("f", {"x"}, {"y"}) == s.define("f", {"x"}, {"y"}));
  CHECK(s.define("f", {"x"}, {"y"}) != s.define("f", {"x"}, {"z"}));
  CHECK(s.define("f", {"x"}, {"y"}) != s.define("f", {"x"}, {"y"}, Definition::Kind::task));
}

TEST_CASE("slots of a list of tensors are numbered") {
  Sketch s("g");
  NodeId a = s.add("a", {});
  NodeId concat = s.add(s.define("concat", {"parts"}, {"value"}), {y(a), y(a), y(a)}, {f32({12})});
  NodeId loop = s.add(s.define("for", {}, {"acc"}, Definition::Kind::loop), {y(a), y(a)}, {f32({4})});
  CHECK(s.graph->slot_in(concat, 0) == "parts[0]");
  CHECK(s.graph->slot_in(concat, 2) == "parts[2]");
  CHECK(s.graph->slot_out(concat, 0) == "value");
  CHECK(s.graph->slot_in(loop, 1) == "in1");
}

TEST_CASE("[A16] the taskGraph is a Boost graph") {
  Sketch s = hazard();
  const BoostTaskGraph& graph = boost_graph(*s.graph);
  REQUIRE(num_vertices(graph) == 4);
  REQUIRE(num_edges(graph) == 6);
  std::vector<std::uint32_t> order;
  boost::topological_sort(graph, std::back_inserter(order));
  CHECK(order.back() == 0);
  std::vector<EdgeKind> kinds;  // out of bump#0: its futures come first
  for (auto [edge, end] = out_edges(0u, graph); edge != end; ++edge)
    kinds.push_back(s.graph->edges()[graph[*edge]].kind);
  CHECK(kinds == std::vector{EdgeKind::future, EdgeKind::order, EdgeKind::order});
  s.add("more", {y(NodeId(3))});
  CHECK(num_vertices(boost_graph(*s.graph)) == 5);
}

TEST_CASE("a task with more operands than slots can number is an error") {
  Sketch s("g");
  std::vector<Ref> in(70'000, s.input("x"));
  CHECK_THROWS_AS(s.add(s.define("concat", {"parts"}, {"value"}), in, {f32({4})}), Error);
}

}  // namespace taskspec::task_graph_test
