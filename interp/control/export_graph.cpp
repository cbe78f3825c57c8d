#include "interp/control/export_graph.hpp"

#include <boost/graph/topological_sort.hpp>
#include <filesystem>

#include "interp/control/deep_stack.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/immediate.hpp"
#include "ir/dot.hpp"
#include "ir/files/files.hpp"
#include "ir/json.hpp"
#include "ir/top_level.hpp"

namespace taskspec {

void with_graph(const Program& program, FunctionId graph, const OpTable& ops,
                const std::function<void(const GraphView&)>& use) {
  Program needed = with_needed_top_level(program, graph);
  with_deep_stack([&] {
    HostContext host(needed, ops);
    host.output = [](std::string_view) {};
    ImmediateTarget target;
    Interpreter interpreter(needed, &host);
    interpreter.set_target(target);
    for (const Module& module : needed.modules) interpreter.module(module);
    use(*build_graph(interpreter, graph));
  });
}

void export_graph(const Program& program, const GraphView& view, const std::string& path) {
  export_graph(program, view.function, view.graph, aggregate(view.graph), path);
}

void export_graph(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                  const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix != ".json" && suffix != ".dot") {
    Diag diag;
    diag.code = "E7003";
    diag.message = "'" + path + "' names no form in which a graph can be written";
    diag.help_text = "end it in .json or .dot";
    throw Error(std::move(diag));
  }
  write_text(path, suffix == ".dot" ? to_dot(graph, chains) : graph_json(program, function, graph, chains));
}

bool is_acyclic(const TaskGraph& graph) {
  std::vector<std::uint32_t> order;
  order.reserve(graph.size());
  try {
    boost::topological_sort(graph.boost(), std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return false;
  }
  return true;
}

}  // namespace taskspec
