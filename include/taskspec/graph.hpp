// Graphs as values: called in other graphs, run, looked at, exported.
//
//   auto pipeline = graph("pipeline").in("x", f32["N"]).out("e", f32[1]).body([](Tensor x) { ... });
//   chains(pipeline)                    // {{"Scale.apply", "Moments.apply", "energy"}}
//   to_json(pipeline, "pipeline.json");
#pragma once
#include "taskspec/agent.hpp"

namespace taskspec::dsl {

class Graph {
 public:
  Graph() = default;
  explicit Graph(detail::FunctionPtr function) : task_(std::move(function), nullptr) {}
  Tensor operator()(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {},
                    Operand g = {}, Operand h = {}) const {
    return task_(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f), std::move(g),
                 std::move(h));
  }
  const detail::FunctionPtr& function() const { return task_.function(); }
  operator const Task&() const { return task_; }  // to be composed

 private:
  Task task_;
};

class GraphBuilder : public Signature<GraphBuilder> {
 public:
  using Signature::Signature;
  template <class F>
  Graph body(F recorded_body, detail::At at = detail::At::current()) {
    detail::record(function_, detail::recorded(std::move(recorded_body), at), at);
    return Graph(function_);
  }
};

namespace detail {
void record_untyped(const FunctionPtr& function, const std::pair<Recorded, std::size_t>& body, At at);
}

// Without a signature: the first call outside of bodies gives the parameters (`x`, or `x1`, `x2`, ...) and the outputs
// the types that they have there.
template <class F>
Graph graph(Name name, F body, detail::At at = detail::At::current()) {
  detail::FunctionPtr function = detail::declare(detail::Kind::graph, name, nullptr);
  detail::record_untyped(function, detail::recorded(std::move(body), at), at);
  return Graph(std::move(function));
}

inline GraphBuilder graph(Name name) { return GraphBuilder(detail::declare(detail::Kind::graph, name, nullptr)); }

// What the task graph looks like; nothing runs.
std::vector<std::vector<std::string>> chains(const Graph& g, detail::At at = detail::At::current());
std::vector<std::string> edges(const Graph& g, const std::string& kind = "", detail::At at = detail::At::current());
std::vector<std::string> why(const Graph& g,
                             detail::At at = detail::At::current());  // per chain: why it begins and ends

// The exchange form (schema: share/taskspec/graph.schema.json), the same as of a text that says the same.
std::string to_json(const Graph& g, detail::At at = detail::At::current());
void to_json(const Graph& g, const std::string& path, detail::At at = detail::At::current());
void to_dot(const Graph& g, const std::string& path, detail::At at = detail::At::current());

}  // namespace taskspec::dsl
