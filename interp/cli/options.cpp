#include "interp/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

void add_defines(CLI::App& app, std::vector<std::string>& raw) {
  app.add_option("-D", raw, "name=value: replaces a top-level let, a default of fn main, or gives an input of a graph")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

void add_run(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* run = app.add_subcommand("run", "check a program, plan it and run it");
  run->add_option("FILE", o.files, "a .task file, a graph as .json, or - for standard input")->required()->expected(1);
  run->add_option("--name", o.graph, "run this graph of the file; -D gives its inputs, results are printed")
      ->type_name("G");
  run->add_option("--on", o.backend, "backend of the program: host, null, or a call such as host(threads: 2)")
      ->type_name("B");
  add_defines(*run, defines);
  run->add_option("--threads", o.threads, "threads of every host session (0: one per core)")
      ->check(CLI::Range(0, 1024));
  run->add_option("--schedule", o.schedule, "when tasks run: push, pull or eager")
      ->check(CLI::IsMember({"push", "pull", "eager"}));
  run->add_flag("--profile", o.profile, "after the output, one row per chain and one for memory");
  run->add_option("--trace", o.trace, "write a timeline that Chrome and Perfetto open")->type_name("OUT.json");
  std::string& report = o.report.emplace();
  run->add_option("--report", report, "the report after the output, or into FILE when that ends in .json")
      ->expected(0, 1)
      ->type_name("[FILE]");
  run->add_option("ARGS", o.arguments, "after --: what args() gives");
}

void add_graph(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* graph = app.add_subcommand("graph", "show a program at any stage of its way");
  graph->add_option("FILE", o.files, "a .task file or a graph as .json")->required()->expected(1);
  graph->add_option("--name", o.graph, "only this graph")->type_name("G");
  graph->add_option("--stage", o.stage, "ast, program, graph, chains or plan")
      ->check(CLI::IsMember({"ast", "program", "slices", "graph", "chains", "plan", "blocks"}));
  graph->add_option("--format", o.format, "text, json or dot")
      ->check(CLI::IsMember({"text", "json", "dot", "svg", "html"}));
  graph->add_flag("--validate", o.validate, "check the JSON against its schema");
  graph->add_option("--sink-rule", o.sink_rule, "count consumers per task or per output")
      ->check(CLI::IsMember({"task", "output"}));
  add_defines(*graph, defines);
}

std::string overview(const CLI::App& app) {
  std::string text = "usage: taskspec COMMAND ...\n\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    text += "  " + command->get_name() + std::string(10 - std::min<std::size_t>(9, command->get_name().size()), ' ') +
            command->get_description() + "\n";
  return text + "\ntaskspec COMMAND --help tells more; start with: taskspec run examples/01_hello.task\n";
}

// In words, with the command that was meant; empty if the first word is a command or an option.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return "";
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
    if (commands.back() == word) return "";
  }
  auto near = nearest(word, commands);
  return "taskspec: no command is called '" + word + "'; " +
         (near ? "did you mean '" + *near + "'?" : "there are " + joined(commands, ", ")) + "\n";
}

// The same for options: CLI11 would take what follows an unknown one for a file, and complain of that.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  if (words[0].starts_with("-")) return "";
  const CLI::App* command = app.get_subcommand(words[0]);  // there is one of this name
  for (const std::string& word : words) {
    std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name.size() == 2 || command->get_option_no_throw(name)) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
    auto near = nearest(name, known);
    return "taskspec " + words[0] + ": there is no option '" + name + "'" +
           (near ? "; did you mean '" + *near + "'?" : "; see taskspec " + words[0] + " --help") + "\n";
  }
  return "";
}

// `--` and what follows belong to the program, not to us.
std::vector<std::string> split_arguments(int argc, const char* const* argv, std::vector<std::string>& program) {
  std::vector<std::string> ours;
  int i = 1;
  for (; i < argc && std::string(argv[i]) != "--"; ++i) ours.emplace_back(argv[i]);
  for (++i; i < argc; ++i) program.emplace_back(argv[i]);
  return ours;
}

}  // namespace

Parsed parse_arguments(int argc, const char* const* argv, bool at_terminal) {
  Options o;
  std::vector<std::string> defines;
  CLI::App app("agents, tasks, futures and chains", "taskspec");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "taskspec " TASKSPEC_VERSION);
  app.add_option("--diagnostics", o.diagnostics, "text or json")->check(CLI::IsMember({"text", "json"}));

  add_run(app, o, defines);
  CLI::App* check = app.add_subcommand("check", "report what is wrong with programs, run nothing");
  check->add_option("FILE", o.files, ".task files")->required();
  add_defines(*check, defines);
  CLI::App* fmt = app.add_subcommand("fmt", "bring files into the canonical layout");
  fmt->add_flag("--check", o.check_only, "change nothing; exit with 4 if a file would change");
  fmt->add_option("FILE", o.files, ".task files, or - for standard input")->required();
  CLI::App* test = app.add_subcommand("test", "run the // expect tests of files, or of all below examples and tests");
  test->add_option("FILE", o.files, ".task files; none: all below examples and tests");
  test->add_option("--label", o.labels, "only those that carry this // label")->type_name("X")->allow_extra_args(false);
  test->add_flag("--update", o.update, "rewrite the golden files beside them");
  add_graph(app, o, defines);
  CLI::App* explain = app.add_subcommand("explain", "what an error code means, with an example and its cure");
  explain->add_option("CODE", o.topic, "such as E2003; none: all codes, a line each");
  CLI::App* doc = app.add_subcommand("doc", "reference of ops and builtins, out of their records");
  doc->add_option("NAME", o.topic, "one of them; none: all, a line each");
  CLI::App* repl = app.add_subcommand("repl", "write a program line by line while it runs");
  repl->add_option("--on", o.backend, "backend to begin with: host, null, or a call such as host(threads: 2)")
      ->type_name("B");
  repl->add_option("ARGS", o.arguments, "after --: what args() gives");
  CLI::App* bench = app.add_subcommand("bench", "reproducible measurements beside their peers");
  bench->add_option("NAME", o.topic, "chains or replay; none: all");
  bench->add_option("-n", o.count, "how many tasks");
  bench->add_option("--threads", o.thread_list, "numbers of threads, such as 1,2");
  bench->add_option("--repeats", o.repeats, "runs of each, interleaved");

  std::vector<std::string> ours = split_arguments(argc, argv, o.arguments);
  if (ours.empty() && !at_terminal) return {std::nullopt, overview(app), 2};
  if (ours.empty()) ours.emplace_back("repl");
  if (std::string unknown = unknown_command(app, ours[0]); !unknown.empty()) return {std::nullopt, unknown, 2};
  if (std::string unknown = unknown_option(app, ours); !unknown.empty()) return {std::nullopt, unknown, 2};
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes them from the back
    app.parse(ours);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    int code = app.exit(error, out, err);
    return {std::nullopt, out.str() + err.str(), code == 0 ? 0 : 2};
  }
  const CLI::App* chosen = app.get_subcommands().front();
  o.command = chosen->get_name();
  if (o.command != "run" || chosen->count("--report") == 0) o.report.reset();
  for (const std::string& define : defines) {
    std::size_t at = define.find('=');
    if (at == std::string::npos || at == 0) return {std::nullopt, "-D wants name=value, not '" + define + "'\n", 2};
    o.defines.emplace_back(define.substr(0, at), define.substr(at + 1));
  }
  return {std::move(o), "", 0};
}

}  // namespace taskspec::cli
