#include "interp/control/export_graph.hpp"

#include <algorithm>
#include <filesystem>

#include "interp/control/deep_stack.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/immediate.hpp"
#include "interp/report/report.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"
#include "ir/program/top_level.hpp"
#include "ir/show/dot.hpp"
#include "ir/show/svg.hpp"

namespace taskspec {

void with_interpreter(const Program& program, FunctionId function, const OpTable& ops,
                      FunctionRef<void(Interpreter&)> use, const std::atomic<bool>* interrupted) {
  Program needed = with_needed_top_level(program, function);
  with_deep_stack([&] {
    HostContext host(needed, ops);
    host.output = [](std::string_view) {};
    host.interrupted = interrupted;
    ImmediateTarget target;
    Interpreter interpreter(needed, &host);
    interpreter.set_target(target);
    for (const Module& module : needed.modules) interpreter.module(module);
    use(interpreter);
  });
}

void with_graph(const Program& program, FunctionId graph, const OpTable& ops, FunctionRef<void(const GraphView&)> use,
                const std::atomic<bool>* interrupted) {
  auto look = [&](Interpreter& interpreter) { use(*build_graph(interpreter, graph, interpreter.agent_for(graph))); };
  with_interpreter(program, graph, ops, look, interrupted);
}

namespace {

// A graph, and what it stands for in the program.
struct Written {
  const Program& program;
  FunctionId function;
  const TaskGraph& graph;
  const Chains& chains;
};

std::string html_form(const Written& w) {
  const std::shared_ptr<const Plan> plan = plan_of_view(w.graph, w.chains);
  Report report{.title = w.graph.name, .sources = &w.program.sources};
  report.graphs.push_back(report_graph(w.program, w.function, w.graph, w.chains, plan.get()));
  return report_html(report);
}
std::string json_form(const Written& w) { return graph_json(w.program, w.function, w.graph, w.chains); }
std::string dot_form(const Written& w) { return to_dot(w.graph, w.chains); }
std::string svg_form(const Written& w) { return to_svg(w.graph, w.chains); }

struct WrittenForm {
  std::string_view suffix;
  std::string (*text)(const Written& written);
  bool carries_program = false;
};
constexpr WrittenForm forms[] = {
    {".json", json_form, true}, {".dot", dot_form}, {".svg", svg_form}, {".html", html_form}};

}  // namespace

bool is_graph_form(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  return std::ranges::any_of(forms, [&](const WrittenForm& form) { return form.suffix == suffix; });
}

ViewContents contents_for(const std::string& path) {
  return path.ends_with(".json") || path.ends_with(".nir") ? ViewContents::all : ViewContents::none;
}

void export_graph(const Program& program, const GraphView& view, const std::string& path) {
  export_graph(program, view.function, view.graph, aggregate(view.graph), path);
}

void export_graph(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                  const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  for (const WrittenForm& form : forms)
    if (form.suffix == suffix) {
      if (form.carries_program && !function.valid() && !is_self_contained(graph))
        throw failure("E1004", {}, "'" + graph.name + "' has no definition to write down; make a graph that calls it");
      return write_text(path, form.text({program, function, graph, chains}));
    }
  Diag diag;
  diag.code = "E7003";
  diag.message = "'" + path + "' names no form in which a graph can be written";
  diag.help_text = "end it in .json, .dot, .svg, .html or .nir";
  throw Error(std::move(diag));
}

namespace {

bool launches(const TaskGraph& graph) {
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (graph.definition(NodeId(i)).kind == Definition::Kind::launch) return true;
  return false;
}

}  // namespace

// A launch is cut into its points when it is about to run.
std::shared_ptr<const Plan> plan_of_view(const TaskGraph& graph, const Chains& chains) {
  if (!has_concrete_types(graph) || launches(graph)) return nullptr;
  return make_plan(std::shared_ptr<const TaskGraph>(std::shared_ptr<const TaskGraph>(), &graph), chains);
}

std::string why_no_plan(const TaskGraph& graph) {
  return launches(graph) ? "no plan before it runs: a launch becomes a task for each of its points then, and those of "
                           "tasks that wait for one another are planned together"
                         : "no plan before the extents of its inputs are known";
}

}  // namespace taskspec
