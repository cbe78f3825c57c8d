#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <map>

#include "ir/show/dot.hpp"
#include "ir/show/graph_text.hpp"
#include "tests/unit/fake_ops.hpp"
#include "tests/unit/sample_graphs.hpp"

namespace taskspec::print_graph_test {

TEST_CASE("[A12] a graph as text shows slots, types and what waits for what") {
  Sketch s = hazard();
  CHECK(graph_text(*s.graph) ==
        "graph hazard(inout r: f64[8], d: f64[1]) -> (t: f64[1])\n"
        "  bump#0(r: r, d: d)                -> t: f64[1], r: f64[8]\n"
        "  peek#0(r: bump#0.r)               -> m: f64[1]             after bump#0 (RAW r)\n"
        "  bump#1(r: bump#0.r, d: bump#0.t)  -> t: f64[1], r: f64[8]  after bump#0 (RAW r), peek#0 (WAR r)\n"
        "  add#0(a: bump#1.t, b: peek#0.m)   -> value: f64[1]\n"
        "  t = add#0.value\n");
}

TEST_CASE("host operands and constants are shown in short") {
  Sketch s("g");
  Ref known = Ref::constant(s.graph->add_constant(f32({4}), Value(Array::make({Precision::f32, {4}}))));
  std::vector<Ref> in{known};
  std::vector<TypeId> out{s.graph->intern(f32({4}))};
  s.graph->add(s.graph->define(definition_of(fake_relu)),
               {.in = in, .out = out, .arguments = {Value(), Value(std::int64_t{2})}});
  CHECK(graph_text(*s.graph) == "graph g()\n  relu#0(x: const f32[4], y: 2)  -> value: f32[4]\n");
}

TEST_CASE("a plan as text shows steps and where values lie") {
  Sketch s = hazard();
  CHECK(plan_text(*make_plan(s.graph, aggregate(*s.graph))) ==
        "plan hazard: 4 tasks in 4 steps\n"
        "arena 256 bytes, scratch 0 bytes per worker; alive at once 88 bytes, without chains 88\n"
        "\n"
        "step 0\n"
        "  bump#0(r: r, d: d)  -> t at arena 0, 8 bytes; r at arena 64, 64 bytes\n"
        "\n"
        "step 1 after 0\n"
        "  peek#0(r: bump#0.r)  -> m at arena 128, 8 bytes\n"
        "\n"
        "step 2 after 0, 1\n"
        "  bump#1(r: bump#0.r, d: bump#0.t)  -> t at arena 192, 8 bytes; r over bump#0.r at arena 64, 64 bytes\n"
        "\n"
        "step 3 after 1, 2\n"
        "  add#0(a: bump#1.t, b: peek#0.m)  -> value in result t, 8 bytes\n"
        "\n"
        "result t = add#0.value\n");
}

namespace {

struct Parsed {
  std::size_t vertices = 0, edges = 0;
  std::map<std::string, int> edge_styles;
  std::vector<std::string> labels;
};

// Boost's reader of Graphviz files stands for all others.
Parsed parsed(const std::string& dot) {
  struct Vertex {
    std::string id, label, shape, style, fontname, color, fontsize;
  };
  struct Edge {
    std::string label, style, fontname, fontsize, color;
  };
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Edge> graph;
  boost::dynamic_properties properties(boost::ignore_other_properties);
  properties.property("node_id", get(&Vertex::id, graph));
  properties.property("label", get(&Vertex::label, graph));
  properties.property("label", get(&Edge::label, graph));
  properties.property("style", get(&Edge::style, graph));
  REQUIRE(boost::read_graphviz(dot, graph, properties, "node_id"));
  Parsed result{num_vertices(graph), num_edges(graph), {}, {}};
  for (auto [edge, end] = edges(graph); edge != end; ++edge) ++result.edge_styles[graph[*edge].style];
  for (auto [vertex, end] = vertices(graph); vertex != end; ++vertex) result.labels.push_back(graph[*vertex].label);
  return result;
}

}  // namespace

TEST_CASE("[A16] DOT tells futures from orders and chains from one another") {
  Sketch s = hazard();
  std::string dot = to_dot(*s.graph, aggregate(*s.graph));
  Parsed graph = parsed(dot);
  CHECK(graph.vertices == 4 + 3);  // tasks, inputs r and d, result t
  CHECK(graph.edges == 6 + 3);     // edges of the graph, two reads of inputs, one result
  CHECK(graph.edge_styles["dashed"] == 3);
  CHECK(dot.find("t0 -> t1 [label=\"RAW r\", style=dashed]") != std::string::npos);
  CHECK(dot.find("t0 -> t2 [label=\"t -> d\"]") != std::string::npos);
  CHECK(dot.find("subgraph cluster_3") != std::string::npos);
}

TEST_CASE("[A16] DOT survives any name") {
  Sketch s("a \"graph\"\n{ } -> \\N");
  NodeId a = s.add(s.define("evil\"]; x -> y [label=\"\\", {}, {"out\\\"\n"}), {}, {f32({4})});
  s.add(s.define("next\r\n}", {"<in>|{x}"}, {"y"}), {y(a)}, {f32({4})});
  s.result("\"result\\\"", y(a));
  Parsed graph = parsed(to_dot(*s.graph, aggregate(*s.graph)));
  CHECK(graph.vertices == 3);
  CHECK(graph.edges == 2);
}

}  // namespace taskspec::print_graph_test
