// All that a net computes, whatever tasks and graphs it is made of, as one op list: what lowering and quantisation
// begin with. Slots and tensors of the top level are constants in it, with the contents that they have now.
//
//   Result<OpList> list = net_list(interpreter, net_forward, {{"x", f32[1, 784]}}, span);
#pragma once
#include "interp/control/interpreter.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

// `callable`: a graph, a task or a composite, called with tensors of these types. Its name is one that blocks may have.
// E4011: what tensors decide about; and what bodies say. Places that it changes are left out: nobody sees the changes.
Result<OpList> net_list(Interpreter& interpreter, const Value& callable, const std::vector<GraphInput>& inputs,
                        Span span);

// With the graph that the list is of, and the list of a task of such a graph.
struct NetView {
  std::shared_ptr<const TaskGraph> graph;
  OpList list;
};
Result<NetView> net_view(Interpreter& interpreter, const Value& callable, const std::vector<GraphInput>& inputs,
                         Span span);
Result<OpList> list_in_view(const Interpreter& interpreter, const TaskGraph& graph, NodeId node);

// For one sample: where the first extent of an input is open, it is 1. E4011: other extents that are open.
std::vector<GraphInput> of_one_sample(std::vector<GraphInput> inputs, Span span);

}  // namespace taskspec
