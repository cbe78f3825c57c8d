// Graphs that tests of taskGraphs, chains and plans have in common, built through the C++ API.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/chains.hpp"

namespace taskspec {

inline Type f32(std::vector<Dim> dims) { return Type::tensor(Precision::f32, std::move(dims)); }
inline Type f64(std::vector<Dim> dims) { return Type::tensor(Precision::f64, std::move(dims)); }

// Adds tasks by name and slots; a definition is made at its first use.
class Sketch {
 public:
  explicit Sketch(std::string name) : graph(std::make_shared<TaskGraph>()) { graph->name = std::move(name); }

  DefinitionId define(const std::string& name, std::vector<std::string> in, std::vector<std::string> out,
                      Definition::Kind kind = Definition::Kind::native) {
    Definition definition;
    definition.kind = kind;
    definition.name = name;
    definition.inputs = std::move(in);
    definition.outputs = std::move(out);
    return graph->define(std::move(definition));
  }
  NodeId add(DefinitionId definition, std::vector<Ref> in, std::vector<Type> out,
             std::vector<Requirement> requirements = {}) {
    std::vector<TypeId> types;
    for (const Type& type : out) types.push_back(graph->intern(type));
    return graph->add(definition, {.in = in, .out = types, .scope = scope}, requirements);
  }
  // A task with inputs a, b, ... and one output y.
  NodeId add(const std::string& name, std::vector<Ref> in, const Type& out = f32({4})) {
    std::vector<std::string> slots;
    for (std::size_t i = 0; i < in.size(); ++i) slots.push_back(std::string(1, static_cast<char>('a' + i % 26)));
    return add(define(name, slots, {"y"}), std::move(in), {out});
  }
  Ref input(const std::string& name, const Type& type = f32({4}), Privilege privilege = Privilege::in) {
    return Ref::input(graph->add_input({name, type, privilege}));
  }
  void result(const std::string& name, Ref ref) { graph->add_result({name, graph->type(ref), ref}); }

  std::shared_ptr<TaskGraph> graph;
  ScopeId scope = ScopeId(0);
};

inline Ref y(NodeId node, std::size_t slot = 0) { return Ref::future(node, slot); }

// Sample 1 of the language: three tasks, one chain.
inline Sketch pipeline() {
  Sketch s("pipeline");
  Ref x = s.input("x");
  using enum Definition::Kind;
  NodeId scale = s.add(s.define("Scale.apply", {"x"}, {"y"}, task), {x}, {f32({4})});
  NodeId moments = s.add(s.define("Moments.apply", {"x"}, {"mean", "dev"}, task), {y(scale)}, {f32({1}), f32({4})});
  NodeId energy = s.add(s.define("energy", {"dev", "mean"}, {"e"}, task), {y(moments, 1), y(moments, 0)}, {f32({1})});
  s.result("e", y(energy));
  return s;
}

// Sample 2: a fork that joins, with tails.
inline Sketch diamond() {
  Sketch s("diamond");
  NodeId src = s.add(s.define("src", {}, {"y"}), {}, {f32({4})});
  DefinitionId inc = s.define("inc", {"x"}, {"y"});
  NodeId one = s.add(inc, {y(src)}, {f32({4})});
  NodeId two = s.add(inc, {y(one)}, {f32({4})});
  NodeId dbl = s.add(s.define("dbl", {"x"}, {"y"}), {y(src)}, {f32({4})});
  NodeId add = s.add(s.define("add", {"a", "b"}, {"y"}), {y(two), y(dbl)}, {f32({4})});
  NodeId three = s.add(inc, {y(add)}, {f32({4})});
  s.result("y", y(three));
  return s;
}

// Sample 2: a place that is written, read and written again.
inline Sketch hazard() {
  Sketch s("hazard");
  Ref r = s.input("r", f64({8}), Privilege::inout), d = s.input("d", f64({1}));
  PlaceId place = s.graph->add_place("r", r);
  DefinitionId bump = s.define("bump", {"r", "d"}, {"t", "r"});
  NodeId a = s.add(bump, {r, d}, {f64({1}), f64({8})}, {{place, Privilege::inout, 0, 1}});
  NodeId p = s.add(s.define("peek", {"r"}, {"m"}), {s.graph->current(place)}, {f64({1})}, {{place, Privilege::in, 0}});
  NodeId b = s.add(bump, {s.graph->current(place), y(a)}, {f64({1}), f64({8})}, {{place, Privilege::inout, 0, 1}});
  NodeId t = s.add(s.define("add", {"a", "b"}, {"value"}), {y(b), y(p)}, {f64({1})});
  s.result("t", y(t));
  return s;
}

// "[[src], [inc, inc], [dbl], [add, inc]]"
inline std::string lists(const TaskGraph& graph, const Chains& chains) {
  std::string text = "[";
  for (std::size_t c = 0; c < chains.size(); ++c) {
    text += c ? ", [" : "[";
    for (NodeId node : chains.members(ChainId(c)))
      text += (node == chains.members(ChainId(c)).front() ? "" : ", ") + graph.definition(node).name;
    text += "]";
  }
  return text + "]";
}

// "[bump#0 -> peek#0 (RAW r), ...]"
inline std::string edges_text(const TaskGraph& graph, EdgeKind kind) {
  std::string text;
  for (const TaskEdge& edge : graph.edges())
    if (edge.kind == kind) text += (text.empty() ? "" : ", ") + graph.text(edge);
  return "[" + text + "]";
}

}  // namespace taskspec
