// `taskspec run`.
#include <cstdio>

#include "interp/cli/commands.hpp"
#include "interp/cli/run_graph.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/report/profile.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

void after_run(const Options& options, const SessionReport& report) {
  if (options.profile) write_out(profile_text(report));
  if (options.report) {
    if (options.report->empty())
      write_out(report_text(report));
    else
      write_text(*options.report, report_json(report));
  }
  if (!options.trace.empty()) write_text(options.trace, trace_json(report));
  flush_out();
}

}  // namespace

int run(const Options& options, const Toolbox& tools) {
  Sources sources;
  Result<BackendChoice> backend = read_backend(options.backend, tools, sources);
  report(options, sources, backend.diags());
  if (!backend) return 2;
  if (options.report && !options.report->empty() && !options.report->ends_with(".json"))
    return usage("--report writes text to standard output, or a file that ends in .json");
  const std::string& file = options.files[0];
  bool is_graph = file.ends_with(".json");
  RunSettings settings;
  settings.on = *backend;
  settings.threads = options.threads;
  if (!options.schedule.empty()) settings.schedule = schedule_of(options.schedule);
  settings.record = options.profile || options.report || !options.trace.empty();
  settings.arguments = options.arguments;
  settings.output = [](std::string_view text) { write_out(text); };
  settings.interrupted = &interrupted();
  if (is_graph || !options.graph.empty()) return run_graph(options, tools, settings);

  auto [program, exit_code] = load(options, tools);
  if (!program) return exit_code;
  RunResult result = run_program(*program, tools, settings);
  flush_out();
  report(options, program->sources, result.diags);
  if (result.diags.empty()) after_run(options, result.report);
  return result.exit_code;
}

}  // namespace taskspec::cli
