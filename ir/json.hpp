// Graphs as JSON (language.md section 10): the exchange form for viewers, and a program of its own: it carries
// the definitions that the graph reaches as typed op lists, so that it can be read back and run.
//
//   write_text("pipeline.json", graph_json(program, id, graph, chains));
//   Result<ImportedGraph> again = import_graph("pipeline.json", ops);
#pragma once
#include <string>
#include <vector>

#include "ir/base/render.hpp"
#include "ir/base/result.hpp"
#include "ir/chains.hpp"
#include "ir/plan.hpp"

namespace taskspec {

// Equal graphs give equal bytes. `plan` adds the part of that stage.
std::string graph_json(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                       const Plan* plan = nullptr);

struct ImportedGraph {
  Program program;   // the definitions reached; its main module holds the graph
  std::string name;
};
// E7001 not found, E7003 broken, of a newer version, or with an op that this program does not have.
Result<ImportedGraph> import_graph(const std::string& path, const OpTable& ops);

// The schema of the format, and what about a text does not follow it (empty: nothing).
std::string graph_schema();
std::vector<std::string> validate_graph_json(std::string_view text);

std::string diagnostics_json(const std::vector<PlainDiag>& diags);

}  // namespace taskspec
