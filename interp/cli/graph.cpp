// `taskspec graph`: a program at any stage of its way, as text, JSON or DOT.
#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/json.hpp"

namespace taskspec::cli {

namespace {

// What the options ask for that there is not, in words; empty if all is well.
std::string refused(const Options& options) {
  for (const std::string& part : {options.stage, options.format})
    for (const char* later : {"slices", "blocks", "svg", "html"})
      if (part == later) return "'" + part + "' needs a part not built yet";
  bool whole_program = options.stage == "ast" || options.stage == "program";
  if (options.format != "text" && whole_program)
    return "the stage " + options.stage + " is text only; json and dot show graph, chains and plan";
  if (options.stage == "ast" && options.files[0].ends_with(".json")) return "an exported graph has no syntax tree";
  if (options.validate && options.format != "json" && !options.files[0].ends_with(".json"))
    return "--validate checks JSON; add --format json";
  return "";
}

std::string several_graphs(const GraphFile& file) {
  std::vector<std::string> names;
  for (FunctionId id : file.graphs) names.push_back(file.program.display_name(id));
  return names.empty() ? "there is no graph to write as JSON"
                       : "JSON holds one graph; choose with --name: " + joined(names, ", ");
}

// True if the text follows the schema; else what does not is reported.
bool follows_schema(const std::string& text, const std::string& name, const Options& options) {
  Diags diags;
  for (const std::string& fault : validate_graph_json(text)) diags.error("E7003", {}, "'" + name + "': " + fault);
  report(options, Sources(), diags);
  return diags.empty();
}

// An exported graph must say the same as its definitions: made anew from them, it is the same file.
bool is_consistent(const GraphFile& file, const std::string& text, const Options& options, const Toolbox& tools) {
  std::string anew = stage_text(file, text.find("\n\"plan\":") == std::string::npos ? "chains" : "plan", "json", options, tools);
  if (anew == text) return true;
  std::vector<std::string_view> a = lines_of(text), b = lines_of(anew);
  std::size_t line = 0;
  while (line < a.size() && line < b.size() && a[line] == b[line]) ++line;
  Diags diags;
  diags.error("E7003", {}, "'" + options.files[0] + "' is not what its definitions give; the first difference is in line " +
                               std::to_string(line + 1));
  report(options, Sources(), diags);
  return false;
}

int show(const GraphFile& file, const Options& options, const Toolbox& tools) {
  if (options.format == "json" && file.graphs.size() != 1) return usage(several_graphs(file));
  if (options.validate && options.files[0].ends_with(".json")) {
    std::string text = read_text(options.files[0], std::size_t{1} << 30);
    if (!follows_schema(text, options.files[0], options) || !is_consistent(file, text, options, tools)) return 1;
  }
  std::string text = stage_text(file, options.stage, options.format, options, tools);
  if (options.validate && options.format == "json" && !follows_schema(text, options.files[0], options)) return 1;
  write_out(text);
  flush_out();
  return 0;
}

}  // namespace

int graph(const Options& options, const Toolbox& tools) {
  if (std::string problem = refused(options); !problem.empty()) return usage(problem);
  Sources sources;
  std::optional<GraphFile> file;
  try {
    if (options.stage == "ast") {
      write_out(ast_text(options.files[0], sources));
      flush_out();
      return 0;
    }
    Result<GraphFile> loaded = load_graphs(options.files[0], options, tools, sources);
    report(options, sources, loaded.diags());
    if (!loaded) return 1;
    file = std::move(*loaded);
    if (!file->problem.empty()) return usage(file->problem);
    sources = file->program.sources;
    return show(*file, options, tools);
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return 1;
  }
}

}  // namespace taskspec::cli
