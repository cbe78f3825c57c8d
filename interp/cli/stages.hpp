// A file at one stage of its way, as text: what `taskspec graph` shows and golden tests compare.
#pragma once
#include <optional>

#include "interp/cli/commands.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec::cli {

// A program, from a text or from an exported graph, and which of its graphs are asked for.
struct GraphFile {
  Program program;
  std::vector<FunctionId> graphs;
  std::shared_ptr<const TaskGraph> recorded;  // in their place, a graph that stands in no text
  std::string problem;                        // wrong usage, such as a --name that there is not
};
Result<GraphFile> load_graphs(const std::string& file, const Options& options, const Toolbox& tools, Sources& sources);
Result<GraphFile> graph_of_json(std::string_view text, const std::string& name, const Toolbox& tools);

// `stage`: program, slices, ops, blocks, graph, chains, plan; `format`: text, json, dot, svg, html. Throws Error.
std::string stage_text(const GraphFile& file, const std::string& stage, const std::string& format,
                       const Options& options, const Toolbox& tools);
std::string ast_text(const std::string& file, Sources& sources);  // throws Error
// The op lists of the main file's tasks, or of the one that options.graph names; or why a task has none.
std::vector<FunctionId> tasks_of(const Program& program, const std::string& name);  // of the main file; empty: all
std::string ops_stage(const GraphFile& file, const Options& options, const Toolbox& tools);
// The blocks of `ir` declarations and of graphs that become blocks, or of the one that options.graph names; or why a
// graph has none.
std::vector<std::string> names_of_blocks(const Program& program);
std::shared_ptr<const BlockGraph> block_graph_of(const Program& program, const std::string& name,
                                                 const Toolbox& tools);  // one of them; throws Error
// The same of nets that are values of the top level: `let q = quantize(net, ...)`.
std::vector<std::string> names_of_net_values(const Program& program);
std::shared_ptr<const BlockGraph> block_graph_of_value(const Program& program, const std::string& name,
                                                       const Toolbox& tools);
std::string blocks_stage(const GraphFile& file, const Options& options, const Toolbox& tools);
// The host and the graph program; `format`: text, json, html.
std::string cut_stage(const Program& program, const std::string& format, const Options& options);

// `stage`: ast, program, slices, ops, blocks, graph, chains, plan; or the format json or dot of the chains stage.
// Graphs are those of the file, or the one that options.graph names. Throws Error.
std::string stage_text(const std::string& file, const std::string& stage, const Options& options, const Toolbox& tools);

}  // namespace taskspec::cli
