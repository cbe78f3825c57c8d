// `taskspec slices`: the host program and the graph program side by side.
#include <algorithm>

#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/report/report.hpp"
#include "ir/cut/cut_program.hpp"
#include "ir/json/cut_program.hpp"
#include "ir/show/cut_text.hpp"

namespace taskspec::cli {

std::string cut_stage(const Program& program, const std::string& format, const Options& options) {
  const CutProgram cut = cut_program(program, options.optimise == 0 ? CutOptions::none() : CutOptions());
  const CutReport report = report_cut(cut);
  if (format == "text")
    return cut_text(cut.program, report,
                    {.columns = static_cast<std::size_t>(std::max(options.columns, 40)),
                     .metrics = options.metrics,
                     .function = ""});
  std::string json = cut_json(cut.program, report);
  if (format == "json") return json;
  return report_html({.title = options.files[0], .sources = &program.sources, .slices = std::move(json)});
}

int slices(const Options& given, const Toolbox& tools) {
  Options options = given;
  options.columns = screen().columns;
  if (options.files[0].ends_with(".json"))
    return usage("an exported graph has no host program; slices takes a .task file");
  Loaded loaded = load(options, tools);
  if (!loaded.program) return loaded.exit_code;
  write_out(cut_stage(*loaded.program, options.format, options));
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
