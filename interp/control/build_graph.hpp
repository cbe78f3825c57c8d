// The taskGraph of a `graph` definition by itself: inputs stay symbolic, nothing runs. What `chains(g)`,
// `edges(g)`, `export(g, ...)` and `taskspec graph` show.
//
//   std::unique_ptr<GraphView> view = build_graph(interpreter, id);
//   aggregate(view->graph);
#pragma once
#include <memory>

#include "interp/control/interpreter.hpp"
#include "interp/control/recorder.hpp"

namespace taskspec {

class GraphView final : public Recorder {
 public:
  FunctionId function;  // the graph that it shows
  bool executes() const override { return false; }
  Array receive(const Tensor& tensor, Span place) override;
};

// `outer` gives the program and its top-level values (a graph may read top-level lets); `agent` is that of a member.
// Throws Error.
std::unique_ptr<GraphView> build_graph(const Interpreter& outer, FunctionId graph, const Value& agent = {});

}  // namespace taskspec
