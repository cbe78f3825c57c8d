#include "interp/cli/stages.hpp"

#include <algorithm>
#include <cstdio>

#include "frontend/ast_print.hpp"
#include "frontend/parse.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/pipeline.hpp"
#include "interp/recorded_program.hpp"
#include "interp/report/drawn_plan.hpp"
#include "interp/report/report.hpp"
#include "interp/session/plan_of_points.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"
#include "ir/show/dot.hpp"
#include "ir/show/graph_text.hpp"
#include "ir/show/program_text.hpp"
#include "ir/show/svg.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec::cli {

namespace {

void choose_graphs(GraphFile& file, const std::string& path, const std::string& name, const std::string& stage = "") {
  file.graphs = graphs_of(file.program);
  if (name.empty()) return;
  if (stage == "ops") {
    std::vector<std::string> names;
    for (FunctionId task : tasks_of(file.program, "")) names.push_back(file.program.display_name(task));
    if (std::ranges::find(names, name) == names.end())
      file.problem = "no task '" + name + "' in " + path + (names.empty() ? "" : "; tasks: " + joined(names, ", "));
    return;
  }
  if (stage == "blocks") {
    const std::vector<std::string> names = names_of_blocks(file.program);
    if (std::ranges::find(names, name) == names.end())
      file.problem = "no graph or 'ir' declaration '" + name + "' in " + path +
                     (names.empty() ? "" : "; there are " + joined(names, ", "));
    return;
  }
  FunctionId chosen = find_graph(file.program, name);
  if (chosen.valid())
    file.graphs = {chosen};
  else
    file.problem = no_graph(file.program, name, path);
}

std::string inputs_text(const TaskGraph& graph) {
  std::vector<std::string> inputs;
  for (const GraphInput& input : graph.inputs()) inputs.push_back(input.name + ": " + input.type.text());
  return joined(inputs, ", ");
}

SinkRule sink_rule(const Options& options) { return options.sink_rule == "output" ? SinkRule::output : SinkRule::task; }

using GraphUse = FunctionRef<void(FunctionId, const TaskGraph&, std::span<const Ref> received)>;

// What a program without graphs records, with a word about it.
void top_level_graph(const GraphFile& file, const std::string& path, const Toolbox& tools, GraphUse use) {
  RunSettings settings;
  settings.interrupted = &interrupted();
  std::size_t tasks = 0;
  const RecordedProgram recorded =
      record_program(file.program, tools, settings, [&](const TaskGraph& graph, std::span<const Ref> received) {
        tasks = graph.size();
        if (tasks > 0) use(file.program.main().top_level, graph, received);
      });
  if (interrupted()) return;
  std::string note = path + (tasks == 0 ? " declares no graph, and its top level records no task"
                                        : " declares no graph; this is what its top level records, where all that it "
                                          "receives is 0");
  if (recorded.too_long)
    note += "; it was not at its end after some seconds";
  else if (recorded.ended.has_errors())
    note += "; it ended early: " + recorded.ended.items().front().message;
  if (tasks == 0) note += ". A graph is declared: graph g(x: f32[N]) -> (y: f32[N]) { ... }";
  std::fprintf(stderr, "taskspec: %s\n", note.c_str());
}

// A graph that stands in no text is of no function, what a program records of its top level.
void each_graph(const GraphFile& file, const Options& options, const Toolbox& tools, GraphUse use) {
  if (file.recorded) return use(FunctionId(), *file.recorded, {});
  if (file.graphs.empty()) return top_level_graph(file, options.files[0], tools, use);
  for (FunctionId id : file.graphs)
    with_graph(
        file.program, id, tools.ops, [&](const GraphView& view) { use(id, view.graph, {}); }, &interrupted());
}

std::string one_graph(const Program& program, FunctionId function, const TaskGraph& graph,
                      std::span<const Ref> received, const std::string& stage, const std::string& format,
                      const Options& options) {
  Chains chains = aggregate(graph, {.sink_rule = sink_rule(options), .received = received});
  verified([&] { return verify_graph(graph); });
  verified([&] { return verify_chains(graph, chains); });
  std::shared_ptr<const Plan> plan = stage == "plan" ? plan_of_view(graph, chains) : nullptr;
  if (format == "json") return graph_json(program, function, graph, chains, plan.get());
  if (format == "dot") return to_dot(graph, chains);
  if (format == "svg") return to_svg(graph, chains);
  if (stage == "graph") return graph_text(graph);
  if (stage == "chains") return chains_text(graph, chains);
  if (plan) return plan_text(*plan);
  if (const std::shared_ptr<const Plan> points = plan_of_points(graph)) return plan_text(*points);
  const std::string inputs = graph.inputs().empty() ? "" : " (" + inputs_text(graph) + ")";
  return graph.name + ": " + why_no_plan(graph) + inputs + "\n";
}

// All graphs in one page, with their plans where extents are known.
std::string graphs_html(const GraphFile& file, const Options& options, const Toolbox& tools) {
  Report report{.title = options.files[0], .sources = &file.program.sources};
  if (!options.files[0].ends_with(".json")) report.slices = report_cut_json(file.program);
  each_graph(file, options, tools, [&](FunctionId function, const TaskGraph& graph, std::span<const Ref> received) {
    Chains chains = aggregate(graph, {.sink_rule = sink_rule(options), .received = received});
    std::shared_ptr<const Plan> plan = plan_of_view(graph, chains);
    report.graphs.push_back(report_graph(file.program, function, graph, chains, plan.get()));
    const std::shared_ptr<const Plan> points = plan ? nullptr : plan_of_points(graph);
    if (!points) return;
    const Chains of_points = aggregate(*points->graph);
    report.graphs.push_back(report_graph(file.program, *points, of_points, *drawn(*points, of_points)));
    report.graphs.back().title = graph.name + ", as it runs";
  });
  return report_html(report);
}

}  // namespace

Result<GraphFile> graph_of_json(std::string_view text, const std::string& name, const Toolbox& tools) {
  Result<ImportedGraph> imported = import_graph(text, name, tools.ops, tools.builtins, all_forms(), tools.blocks);
  if (!imported) return imported.diags();
  GraphFile file;
  file.program = std::move(imported->program);
  file.recorded = std::move(imported->recorded);
  if (!file.recorded) choose_graphs(file, name, imported->name);
  return file;
}

Result<GraphFile> load_graphs(const std::string& path, const Options& options, const Toolbox& tools, Sources& sources) {
  if (path.ends_with(".json")) {
    try {
      return graph_of_json(read_text(path, largest_graph), path, tools);
    } catch (const Error& error) {
      return error.diags();
    }
  }
  GraphFile file;
  Result<Program> program = load_program(path, load_options(options), tools, sources);
  if (!program) return program.diags();
  file.program = std::move(*program);
  if (auto problem = unknown_define(options, file.program)) file.problem = *problem;
  choose_graphs(file, path, options.graph, options.stage);
  return {std::move(file), program.diags()};
}

std::string stage_text(const GraphFile& file, const std::string& stage, const std::string& format,
                       const Options& options, const Toolbox& tools) {
  if (stage == "program") return program_text(file.program);
  if (stage == "ops") return ops_stage(file, options, tools);
  if (stage == "blocks") return blocks_stage(file, options, tools);
  if (stage == "slices") return cut_stage(file.program, format, options);
  if (format == "html") return graphs_html(file, options, tools);
  std::string text;
  each_graph(file, options, tools, [&](FunctionId function, const TaskGraph& graph, std::span<const Ref> received) {
    if (!text.empty()) text += "\n";
    text += one_graph(file.program, function, graph, received, stage, format, options);
  });
  return text;
}

std::string ast_text(const std::string& file, Sources& sources) {
  SourceId source = sources.add(file == "-" ? "<stdin>" : file, read_text(file == "-" ? "/dev/stdin" : file));
  Result<Ast> ast = parse(sources, source);
  if (!ast) throw Error(ast.diags());
  return print_ast(*ast, &sources);
}

std::string stage_text(const std::string& file, const std::string& stage, const Options& options,
                       const Toolbox& tools) {
  Sources sources;
  if (stage == "ast") return ast_text(file, sources);
  Result<GraphFile> loaded = load_graphs(file, options, tools, sources);
  if (!loaded) throw Error(loaded.diags());
  bool is_format = stage == "json" || stage == "dot";
  return stage_text(*loaded, is_format ? "chains" : stage, is_format ? stage : "text", options, tools);
}

}  // namespace taskspec::cli
