// `taskspec run`.
#include <cstdio>

#include "interp/cli/commands.hpp"
#include "interp/cli/profile.hpp"
#include "interp/cli/run_graph.hpp"
#include "interp/cli/terminal.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

Schedule schedule_of(const std::string& name) {
  return name == "pull" ? Schedule::pull : name == "eager" ? Schedule::eager : Schedule::push;
}

// --on takes a name or a call: host, null, host(threads: 2).
struct BackendWord {
  std::string name;
  std::string schedule;
  int threads = 0;
};

std::optional<BackendWord> backend_of(const std::string& written, std::string& problem) {
  BackendWord word;
  std::size_t open = written.find('(');
  word.name = written.substr(0, open);
  if (word.name == "mpi" || word.name == "hw") {
    problem = "E1009 the backend '" + word.name + "' needs a part not built yet";
    return std::nullopt;
  }
  if (word.name != "host" && word.name != "null") {
    problem = "no backend is called '" + word.name + "'; there are host and null";
    return std::nullopt;
  }
  if (open == std::string::npos) return word;
  std::string inside = written.substr(open + 1, written.rfind(')') - open - 1);
  for (std::size_t begin = 0; begin < inside.size();) {
    std::size_t end = std::min(inside.find(',', begin), inside.size());
    std::string argument = inside.substr(begin, end - begin);
    std::erase_if(argument, [](char c) { return c == ' ' || c == '"'; });
    if (argument.rfind("threads:", 0) == 0) word.threads = std::atoi(argument.c_str() + 8);
    else if (argument.rfind("schedule:", 0) == 0) word.schedule = argument.substr(9);
    else if (!argument.empty()) {
      problem = "'" + word.name + "' takes threads and schedule, not '" + argument + "'";
      return std::nullopt;
    }
    begin = end + 1;
  }
  return word;
}

void after_run(const Options& options, const SessionReport& report) {
  if (options.profile) write_out(profile_text(report));
  if (options.report) {
    if (options.report->empty()) write_out(report_text(report));
    else write_text(*options.report, report_json(report));
  }
  if (!options.trace.empty()) write_text(options.trace, trace_json(report));
  flush_out();
}

}  // namespace

int run(const Options& options, const Toolbox& tools) {
  std::string problem;
  std::optional<BackendWord> backend = backend_of(options.backend, problem);
  if (!backend) return usage(problem);
  if (options.report && !options.report->empty() && !options.report->ends_with(".json"))
    return usage("--report writes text to standard output, or a file that ends in .json");
  const std::string& file = options.files[0];
  bool is_graph = file.ends_with(".json");
  RunSettings settings;
  settings.backend = backend->name;
  settings.threads = options.threads != 0 ? options.threads : backend->threads;
  settings.schedule = schedule_of(backend->schedule.empty() ? options.schedule : backend->schedule);
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
