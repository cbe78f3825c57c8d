// The whole way of a program: text -> Program -> session on a backend. What the command line and the tests
// share.
//
//   Toolbox tools{standard_ops(), standard_builtins()};
//   Sources sources;
//   Result<Program> program = load_program("hello.task", {}, tools, sources);
//   RunResult result = run_program(*program, tools, {});
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "interp/load.hpp"
#include "interp/run_settings.hpp"

namespace taskspec {

// Cut in two, both parts at the same time.
RunResult run_program(const Program& program, const Toolbox& tools, const RunSettings& settings);
// By one interpreter that runs host code and records tensor operations on its way, as at the prompt.
RunResult run_directly(const Program& program, const Toolbox& tools, const RunSettings& settings);

// One graph by itself on given inputs (by declared parameter: an Array for a tensor, else a host value). That of an
// agent without parameters has an agent of its own.
struct GraphRun : RunResult {
  std::vector<std::pair<std::string, Array>> results;
};
GraphRun run_graph(const Program& program, FunctionId graph, std::vector<Value> inputs, const Toolbox& tools,
                   const RunSettings& settings);

// A fn of the main module by itself, called with these; arrays become tensors of the graph.
RunResult run_function(const Program& program, FunctionId function, std::vector<Value> arguments, const Toolbox& tools,
                       const RunSettings& settings);

// The graph of the main module that goes by this name, "pipeline" or "Net.forward"; invalid if there is none.
FunctionId find_graph(const Program& program, const std::string& name);
std::vector<FunctionId> graphs_of(const Program& program);     // of the main module, in order of their text
std::vector<FunctionId> named_graphs(const Program& program);  // and those of its agents without parameters
// For a name that find_graph does not know: what there is, or what the agent of this graph wants.
std::string no_graph(const Program& program, const std::string& name, const std::string& path);

}  // namespace taskspec
