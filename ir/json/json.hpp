// Graphs as JSON: the exchange form for viewers, and a program of its own: it carries
// the definitions that the graph reaches as typed op lists, so that it can be read back and run.
//
//   write_text("pipeline.json", graph_json(program, id, graph, chains));
//   Result<ImportedGraph> again = import_graph(text, "pipeline.json", ops, builtins);
//
// Nodes, edges, chains and layout are for viewers: a reader makes them anew from the definitions (or from the nodes, of
// a graph that has none). Texts of sources are
// not carried, but the places of definitions and calls are, so that exporting an imported graph gives the same bytes.
// It is the program, not a state of it: slots of agents begin with their first values, wherever it is read.
#pragma once
#include <string>
#include <vector>

#include "ir/base/render.hpp"
#include "ir/base/result.hpp"
#include "ir/blocks/block.hpp"
#include "ir/graph/chains.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

// Equal graphs give equal bytes. `plan` adds the part of that stage. A graph that was made without a program has an
// invalid `function`. Without `contents` (bodies, elements of constants) it can be looked at, but not read back.
std::string graph_json(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                       const Plan* plan = nullptr, bool contents = true);

// Whether a graph that stands in no text can be read back all the same: its tasks carry what they do, as those of a
// step of training. What its constants hold is not written down where nobody knew it.
bool is_self_contained(const TaskGraph& graph);

struct ImportedGraph {
  Program program;  // the definitions reached; its main module holds the graph
  std::string name;
  std::shared_ptr<const TaskGraph> recorded;  // of a graph that stands in no text
};
inline constexpr std::size_t largest_graph = std::size_t{1} << 30;  // bytes of a file

// `path` is for messages. E7003: broken, of a newer version, or with an op that this program does not have.
Result<ImportedGraph> import_graph(std::string_view text, const std::string& path, const OpTable& ops,
                                   const BuiltinTable& builtins, std::span<const Form> forms = all_forms(),
                                   BlockTable blocks = {});

// The schema of the format, and what about a text does not follow it (empty: nothing).
std::string graph_schema();
std::vector<std::string> validate_graph_json(std::string_view text);

std::string diagnostics_json(const std::vector<PlainDiag>& diags);

}  // namespace taskspec
