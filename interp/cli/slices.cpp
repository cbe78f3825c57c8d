// `taskspec slices`: the host program and the graph program side by side.
#include "ir/cut/slices.hpp"

#include <algorithm>

#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/report/report.hpp"
#include "ir/json/slices.hpp"
#include "ir/show/slices_text.hpp"

namespace taskspec::cli {

std::string slices_stage(const Program& program, const std::string& format, const Options& options) {
  const Slices slices = slice(program, options.optimise == 0 ? SliceOptions::none() : SliceOptions());
  const SlicesReport report = report_slices(slices);
  if (format == "text")
    return slices_text(slices.program, report,
                       {.columns = static_cast<std::size_t>(std::max(options.columns, 40)),
                        .metrics = options.metrics,
                        .function = ""});
  std::string json = slices_json(slices.program, report);
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
  write_out(slices_stage(*loaded.program, options.format, options));
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
