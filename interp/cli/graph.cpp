// `taskspec graph`: a program at any stage of its way, as text, JSON, DOT, SVG or HTML.
#include <cstdio>

#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"

namespace taskspec::cli {

namespace {

// What the options ask for that there is not, in words; empty if all is well.
std::string refused(const Options& options) {
  const bool sliced = options.stage == "slices", exported = options.files[0].ends_with(".json");
  if (sliced && exported) return "an exported graph has no host program";
  if (sliced && options.validate) return "--validate checks graphs";
  if (sliced && (options.format == "dot" || options.format == "svg"))
    return "the stage slices is text, json or html; dot and svg show graphs";
  bool whole_program =
      options.stage == "ast" || options.stage == "program" || options.stage == "ops" || options.stage == "blocks";
  if (options.format != "text" && whole_program)
    return "the stage " + options.stage + " is text only; json, dot, svg and html show graph, chains and plan";
  if (options.stage == "ast" && exported) return "an exported graph has no syntax tree";
  if (options.validate && options.format != "json" && !exported) return "--validate checks JSON; add --format json";
  return "";
}

std::string several_graphs(const GraphFile& file, const std::string& format) {
  std::vector<std::string> names;
  for (FunctionId id : file.graphs) names.push_back(file.program.display_name(id));
  return names.empty() ? format +
                             " is for graphs that are declared, as graph g(x: f32[N]) -> (y: f32[N]) { ... }; what "
                             "the top level records is text, dot, svg or html"
                       : format + " holds one graph; choose with --name: " + joined(names, ", ");
}

// What about the JSON of a graph is wrong: it breaks the schema, or does not say the same as its definitions, from
// which a reader makes the graph anew.
Diags faults_of(const std::string& text, const std::string& name, const Options& options, const Toolbox& tools) {
  Diags diags;
  for (const std::string& fault : validate_graph_json(text)) diags.error("E7003", {}, "'" + name + "': " + fault);
  if (!diags.empty()) return diags;
  Result<GraphFile> file = graph_of_json(text, name, tools);
  if (!file) return file.diags();
  bool planned = text.find("\n\"plan\":") != std::string::npos;
  std::string anew = stage_text(*file, planned ? "plan" : "chains", "json", options, tools);
  if (anew == text) return diags;
  std::vector<std::string_view> a = lines_of(text), b = lines_of(anew);
  std::size_t line = 0;
  while (line < a.size() && line < b.size() && a[line] == b[line]) ++line;
  diags.error(
      "E7003", {},
      "'" + name + "' is not what its definitions give; the first difference is in line " + std::to_string(line + 1));
  return diags;
}

// Fills in the text to show; gives the exit code, 0 if there is something to show.
int show(const GraphFile& file, const Options& options, const Toolbox& tools, std::string& text) {
  const std::string& path = options.files[0];
  bool one_only = options.stage != "slices" && (options.format == "json" || options.format == "svg");
  const bool recorded = file.recorded || (file.graphs.empty() && options.format == "svg");
  if (one_only && !recorded && file.graphs.size() != 1)
    return usage(several_graphs(file, options.format == "json" ? "JSON" : "SVG"));
  text = stage_text(file, options.stage, options.format, options, tools);
  if (!options.validate) return 0;
  Diags wrong = faults_of(path.ends_with(".json") ? read_text(path, largest_graph) : text, path, options, tools);
  report(options, Sources(), wrong);
  return wrong.empty() ? 0 : 1;
}

int show(const Options& options, const Toolbox& tools, Sources& sources, std::string& text) {
  if (options.stage == "ast") {
    text = ast_text(options.files[0], sources);
    return 0;
  }
  Result<GraphFile> file = load_graphs(options.files[0], options, tools, sources);
  report(options, sources, file.diags());
  if (!file) return 1;
  if (!file->problem.empty()) return usage(file->problem);
  sources = file->program.sources;
  return show(*file, options, tools, text);
}

}  // namespace

int graph(const Options& given, const Toolbox& tools) {
  Options options = given;
  options.columns = screen().columns;
  if (std::string problem = refused(options); !problem.empty()) return usage(problem);
  Sources sources;
  std::string text;
  try {
    if (int code = show(options, tools, sources, text); code != 0) return code;
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return interrupted() ? 130 : 1;
  }
  write_out(text);  // outside: an output that cannot be written is no fault of the program
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
