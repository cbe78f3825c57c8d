// Graphs looked at from C++: include/taskspec/graph.hpp.
#include "frontend/dsl/errors.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/host_program.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"
#include "ir/show/graph_text.hpp"
#include "taskspec/graph.hpp"

namespace taskspec::dsl {

namespace {

void look_at(const Graph& g, detail::At at, FunctionRef<void(const Program&, const GraphView&)> use,
             ViewContents contents = ViewContents::none) {
  if (!g.function()) detail::fail("E1006", at, "this graph is not set", "give it a body first");
  if (g.value()) return detail::HostProgram::here().look_at(g.value(), at, contents, use);  // a member of an agent
  auto checked = detail::checked(g.function());
  detail::with_places(checked->program.sources, at, [&] {
    with_graph(checked->program, checked->function, detail::toolbox().ops,
               [&](const GraphView& view) { use(checked->program, view); });
  });
}

}  // namespace

std::vector<std::vector<std::string>> chains(const Graph& g, detail::At at) {
  std::vector<std::vector<std::string>> names;
  look_at(g, at, [&](const Program&, const GraphView& view) {
    Chains chains = aggregate(view.graph);
    for (std::size_t i = 0; i < chains.size(); ++i) {
      names.emplace_back();
      for (NodeId node : chains.members(ChainId(i))) names.back().push_back(view.graph.definition(node).name);
    }
  });
  return names;
}

std::vector<std::string> edges(const Graph& g, const std::string& kind, detail::At at) {
  if (!kind.empty() && kind != "future" && kind != "order")
    detail::fail("E1003", at, "no kind of edge is called \"" + kind + "\"", "future or order; leave it out for both");
  std::vector<std::string> texts;
  look_at(g, at, [&](const Program&, const GraphView& view) {
    for (const TaskEdge& edge : view.graph.edges())
      if (kind.empty() || (kind == "order") == (edge.kind == EdgeKind::order)) texts.push_back(view.graph.text(edge));
  });
  return texts;
}

std::vector<std::string> why(const Graph& g, detail::At at) {
  std::vector<std::string> lines;
  look_at(g, at, [&](const Program&, const GraphView& view) {
    Chains chains = aggregate(view.graph);
    for (std::size_t i = 0; i < chains.size(); ++i) {
      ChainId chain(i);
      lines.push_back(chain_text(view.graph, chains, chain) + " " + first_text(view.graph, chains, chain) + "; " +
                      last_text(view.graph, chains, chain));
    }
  });
  return lines;
}

std::string to_json(const Graph& g, detail::At at) {
  std::string text;
  auto write = [&](const Program& program, const GraphView& view) {
    text = graph_json(program, view.function, view.graph, aggregate(view.graph));
  };
  look_at(g, at, write, ViewContents::all);
  return text;
}

void to_json(const Graph& g, const std::string& path, detail::At at) {
  std::string text = to_json(g, at);
  detail::with_places({}, at, [&] { write_text(path, text); });
}

void to_dot(const Graph& g, const std::string& path, detail::At at) {
  look_at(g, at, [&](const Program& program, const GraphView& view) {
    if (!path.ends_with(".dot")) throw failure("E7003", {}, "'" + path + "' does not end in .dot");
    export_graph(program, view, path);
  });
}

}  // namespace taskspec::dsl
