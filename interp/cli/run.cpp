// `taskspec run`.
#include <cstdio>

#include "interp/backends/read.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/run_graph.hpp"
#include "interp/cli/run_report.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/pipeline.hpp"

namespace taskspec::cli {

namespace {

bool opens_sessions(const Program& program) {
  for (const Function& function : program.functions)
    for (const Call& call : function.calls)
      if (call.form->to_run == FormRecord::ToRun::session) return true;
  return false;
}

// A file of declarations alone runs, and does nothing: how to run what it declares. Empty where something runs.
std::string nothing_to_run(const Program& program, const std::string& path) {
  if (!program[program.main().top_level].body.calls.empty()) return "";
  std::string graph;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (!(function.module == program[program.main().top_level].module) || function.agent.valid()) continue;
    if (function.kind == FunctionKind::fn && function.name == "main")
      return path + " declares fn main and calls nothing; put main() below it";
    if (function.kind == FunctionKind::graph && graph.empty()) graph = function.name;
  }
  if (graph.empty()) return "";
  return path + " declares and runs nothing; taskspec run " + path + " --name " + graph +
         " runs a graph of it, its inputs by -D";
}

}  // namespace

int run(const Options& options, const Toolbox& tools) {
  Sources sources;
  Result<BackendChoice> backend = read_backend(options.backend, tools, sources);
  report(options, sources, backend.diags());
  if (!backend) return 2;
  if (std::string problem = refused_report(options); !problem.empty()) return usage(problem);
  const std::string& file = options.files[0];
  bool is_graph = file.ends_with(".json");
  RunSettings settings;
  settings.on = std::make_shared<BackendChoice>(std::move(*backend));
  settings.threads = options.threads;
  settings.backend_options = options.backend_options;
  if (!options.schedule.empty()) settings.schedule = schedule_of(options.schedule);
  const bool page = options.report && options.report->ends_with(".html");
  settings.record = options.profile;
  settings.detect_nan = options.detect_nan;
  settings.record_ops = options.profile || page;
  settings.rates = page;
  settings.timeline = options.report || !options.trace.empty();
  if (settings.timeline) settings.pictures = std::make_shared<RunPictures>();
  settings.arguments = options.arguments;
  if (!options.is_hidden) settings.output = [](std::string_view text) { write_out(text); };
  settings.is_hidden = options.is_hidden;
  settings.screen = screen();
  settings.interrupted = &interrupted();
  const bool is_one = is_graph || !options.graph.empty();
  if (is_one && is_called(options)) return run_called_graph(options, tools, settings);
  if (is_one) return run_graph(options, tools, settings);

  auto [program, exit_code] = load(options, tools);
  if (!program) return exit_code;
  if (options.time_steps > 0 && !opens_sessions(*program))
    return usage("--time-steps repeats what a session is given, and " + file +
                 " opens none; run g(x) on host does, or choose a graph with --name");
  if (const std::string note = nothing_to_run(*program, file); !note.empty() && !options.is_hidden)
    std::fprintf(stderr, "taskspec: %s\n", note.c_str());
  RunResult result = run_program(*program, tools, settings);
  flush_out();
  report(options, program->sources, result.diags);
  if (options.is_hidden) return result.exit_code;
  // Also of a run that failed: then it is wanted most.
  write_reports(options, *program, program->sources, result, settings.pictures.get());
  return result.exit_code;
}

}  // namespace taskspec::cli
