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

// Whether the constants of a view have their contents: those of tensors of the top level may be yet to be computed,
// and whoever looks at tasks and edges alone needs no more than their types.
enum class ViewContents : std::uint8_t { none, all };

class GraphView final : public Recorder {
 public:
  explicit GraphView(ViewContents contents = ViewContents::none) : contents_(contents) {}
  FunctionId function;  // the graph that it shows
  bool executes() const override { return false; }
  Array receive(const Tensor& tensor, Span place) override;
  Value from_elsewhere(const Tensor& tensor, Span place) override;

 private:
  const ViewContents contents_;
};

// What has a graph of its own to look at: a training has that of a step.
class HasGraph {
 public:
  virtual ~HasGraph() = default;
  // Changes nothing. Throws Error where there is none yet.
  virtual std::unique_ptr<GraphView> graph(const Interpreter& outer, ViewContents contents, Span span) = 0;
};

// `outer` gives the program and its top-level values (a graph may read top-level lets); `graph` is one, with the agent
// of a member, or a composite of tasks and graphs, whose view has no function. Looking changes nothing, neither in
// agents nor in what the program prints later. With contents the slots of agents have their first values, as in a
// program that only begins: a graph that is written down is what its text says. Throws Error.
std::unique_ptr<GraphView> build_graph(const Interpreter& outer, const Value& graph,
                                       ViewContents contents = ViewContents::none);
std::unique_ptr<GraphView> build_graph(const Interpreter& outer, FunctionId graph, const Value& agent = {},
                                       ViewContents contents = ViewContents::none);

// What a call of a graph, a task or a composite does with tensors of these types, as the program stands now: constants
// and slots are those of this moment, control that no tensor decides about is carried out. Throws Error.
std::unique_ptr<GraphView> graph_of_call(const Interpreter& outer, const Value& callable,
                                         const std::vector<GraphInput>& inputs, Span span);

}  // namespace taskspec
