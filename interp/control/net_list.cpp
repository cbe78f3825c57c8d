#include "interp/control/net_list.hpp"

#include "interp/control/build_graph.hpp"
#include "interp/control/capture.hpp"
#include "interp/control/op_lists.hpp"
#include "ir/base/ascii.hpp"
#include "ir/lowering/graph_list.hpp"

namespace taskspec {

namespace {

// "LeNet.forward" as LeNet_forward.
std::string as_one_word(const std::string& name) {
  std::string word;
  for (const char c : name)
    if (is_word(c))
      word += c;
    else if (!word.empty() && word.back() != '_')
      word += '_';
  return word;
}

}  // namespace

Result<OpList> list_in_view(const Interpreter& interpreter, const TaskGraph& graph, NodeId node) {
  const Definition& definition = graph.definition(node);
  if (definition.list) return *definition.list;
  return op_list(interpreter, graph, node);
}

Result<NetView> net_view(Interpreter& interpreter, const Value& callable, const std::vector<GraphInput>& inputs,
                         Span span) {
  try {
    // Bodies read the contents of top-level tensors.
    each_function(callable, [&](FunctionId function) { interpreter.receive_globals(function, span); });
    std::shared_ptr<const GraphView> view = graph_of_call(interpreter, callable, inputs, span);
    auto list_of = [&](NodeId node) { return list_in_view(interpreter, view->graph, node); };
    Result<OpList> list = graph_list(view->graph, list_of);
    if (!list) return list.diags();
    list->name = as_one_word(list->name);
    return NetView{{view, &view->graph}, *std::move(list)};
  } catch (const Error& error) {
    return error.diags();
  }
}

Result<OpList> net_list(Interpreter& interpreter, const Value& callable, const std::vector<GraphInput>& inputs,
                        Span span) {
  Result<NetView> view = net_view(interpreter, callable, inputs, span);
  if (!view) return view.diags();
  return std::move(view->list);
}

std::vector<GraphInput> of_one_sample(std::vector<GraphInput> inputs, Span span) {
  for (GraphInput& input : inputs) {
    if (!input.type.is_tensor())
      throw failure("E4011", span, "input '" + input.name + "' is " + input.type.text() + ": blocks take tensors");
    const Type written = input.type;
    if (!input.type.dims.empty() && !input.type.dims[0].is_constant()) input.type.dims[0] = Dim(1);
    if (input.type.has_symbols())
      throw failure("E4011", span,
                    "input '" + input.name + "' is " + written.text() + ": a graph is lowered for known extents");
  }
  return inputs;
}

}  // namespace taskspec
