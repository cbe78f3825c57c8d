// Graphs looked at from outside of a running program: shown, exported.
//
//   with_graph(program, id, ops, [](const GraphView& view) { fmt::print("{}", graph_text(view.graph)); });
#pragma once
#include <atomic>
#include <string>

#include "interp/control/build_graph.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

// Calls `use` with an interpreter to which the top-level values are known that `function` and all that it calls read;
// the rest of the program does not run. Throws Error; E5009 when `interrupted` becomes true.
void with_interpreter(const Program& program, FunctionId function, const OpTable& ops,
                      FunctionRef<void(Interpreter&)> use, const std::atomic<bool>* interrupted = nullptr);

// Calls `use` with the graph as it is recorded.
void with_graph(const Program& program, FunctionId graph, const OpTable& ops, FunctionRef<void(const GraphView&)> use,
                const std::atomic<bool>* interrupted = nullptr);

// What the view needs to have of it: only .json and .nir have contents of constants.
ViewContents contents_for(const std::string& path);
bool is_graph_form(const std::string& path);  // by its suffix: .json, .dot, .svg, .html
// E7003 for another suffix, E7004 when it cannot be written.
void export_graph(const Program& program, const GraphView& view, const std::string& path);
// Any graph that `function` stands for: of a top level, all that it recorded.
void export_graph(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                  const std::string& path);

// The plan of a graph that outlives it; null before the extents of its inputs are known.
std::shared_ptr<const Plan> plan_of_view(const TaskGraph& graph, const Chains& chains);
std::string why_no_plan(const TaskGraph& graph);  // where that gives none

}  // namespace taskspec
