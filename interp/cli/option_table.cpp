#include "interp/cli/option_table.hpp"

namespace taskspec::cli {

namespace {

void add_defines(CLI::App& app, std::vector<std::string>& raw, const char* more = "") {
  app.add_option("-D", raw, std::string("name=value: replaces a top-level let or a default of fn main") + more)
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
  add_defines(*run, defines, "; gives an input of the graph that runs");
  run->add_option("--threads", o.threads, "threads of every host session (0: one per core)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  run->add_option("--schedule", o.schedule, "when tasks run: push, pull or eager")
      ->check(CLI::IsMember({"push", "pull", "eager"}));
  run->add_flag("--profile", o.profile, "after the output, one row per chain and one for memory");
  run->add_option("--trace", o.trace, "write a timeline that Chrome and Perfetto open")->type_name("OUT.json");
  std::string& report = o.report.emplace();
  run->add_option("--report", report, "the report after the output, or into FILE that ends in .json or .html")
      ->expected(0, 1)
      ->type_name("[FILE]");
  run->add_option("ARGS", o.arguments, "after --: what args() gives");
}

void add_graph(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* graph = app.add_subcommand("graph", "show a program at any stage of its way");
  graph->add_option("FILE", o.files, "a .task file or a graph as .json")->required()->expected(1);
  graph->add_option("--name", o.graph, "only this graph")->type_name("G");
  graph->add_option("--stage", o.stage, "ast, program, slices, graph, chains or plan")
      ->check(CLI::IsMember({"ast", "program", "slices", "graph", "chains", "plan", "blocks"}));
  graph->add_option("--format", o.format, "text, json, dot, svg or html")
      ->check(CLI::IsMember({"text", "json", "dot", "svg", "html"}));
  graph->add_flag("--validate", o.validate, "check the JSON against its schema");
  graph->add_option("--sink-rule", o.sink_rule, "count consumers per task or per output")
      ->check(CLI::IsMember({"task", "output"}));
  add_defines(*graph, defines);
}

void add_check(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* check = app.add_subcommand("check", "report what is wrong with programs, run nothing");
  check->add_option("FILE", o.files, ".task files")->required();
  add_defines(*check, defines);
  for (const char* severity : {"warn", "error"})
    check
        ->add_option_function<std::string>(
            std::string("--") + severity, [&o, severity](const std::string&) { o.implicit_send = severity; },
            severity == std::string("warn") ? "implicit-send: warn of every host value that is sent to the graph"
                                            : "implicit-send: take each of them as an error")
        ->check(CLI::IsMember({"implicit-send"}))
        ->type_name("WHAT");
}

void add_slices(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* slices = app.add_subcommand("slices", "the host program and the graph program, and what goes between them");
  slices->add_option("FILE", o.files, "a .task file, or - for standard input")->required()->expected(1);
  slices->add_flag("--metrics", o.metrics, "segments, operations per segment, sends, receives and round trips, too");
  slices->add_option("-O", o.optimise, "0: every message stands where its value is made; 2: fewest messages")
      ->check(CLI::IsMember({0, 2}))
      ->type_name("LEVEL");
  slices->add_option("--format", o.format, "text, json or html")->check(CLI::IsMember({"text", "json", "html"}));
  add_defines(*slices, defines);
}

// Before the command or behind it, of those that have something to say about a program.
void add_diagnostics(CLI::App& app, Options& o) {
  auto add = [&o](CLI::App& to) {
    to.add_option("--diagnostics", o.diagnostics, "errors and warnings as text or json")
        ->check(CLI::IsMember({"text", "json"}));
  };
  add(app);
  for (const char* command : {"run", "check", "fmt", "graph", "slices", "build", "repl"})
    add(*app.get_subcommand(command));
}

}  // namespace

CommandLine::CommandLine() : app("agents, tasks, futures and chains", "taskspec") {
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "taskspec " TASKSPEC_VERSION);

  add_run(app, options, defines);
  add_check(app, options, defines);
  CLI::App* fmt = app.add_subcommand("fmt", "bring files into the canonical layout");
  fmt->add_flag("--check", options.check_only, "change nothing; exit with 4 if a file would change");
  fmt->add_option("FILE", options.files, ".task files, or - for standard input")->required();
  CLI::App* test = app.add_subcommand("test", "run the // expect tests of files, or of all below examples and tests");
  test->add_option("FILE", options.files, ".task files; none: all below examples and tests");
  test->add_option("--label", options.labels, "only those that carry this // label")
      ->type_name("X")
      ->allow_extra_args(false);
  test->add_flag("--update", options.update, "rewrite the golden files beside them");
  add_graph(app, options, defines);
  add_slices(app, options, defines);
  CLI::App* build = app.add_subcommand("build", "package a module as a library that is linked function by function");
  build->add_option("--lib", options.library, "the module, by the name that an import gives")
      ->type_name("NAME")
      ->required();
  build->add_option("-o", options.output, "where to; else where an import of NAME finds it from here")
      ->type_name("FILE");
  CLI::App* explain = app.add_subcommand("explain", "what an error code means, with an example and its cure");
  explain->add_option("CODE", options.topic, "such as E2003; none: all codes, a line each");
  CLI::App* doc = app.add_subcommand("doc", "reference of ops, builtins, types and errors, out of their records");
  doc->add_option("NAME", options.topic, "one of them; none: all, a line each");
  doc->add_option("--format", options.format,
                  "of the whole: text, html, markdown, textmate (for editors), or of the tool: man, bash, zsh, fish")
      ->check(CLI::IsMember({"text", "html", "markdown", "textmate", "man", "bash", "zsh", "fish"}));
  CLI::App* repl = app.add_subcommand("repl", "write a program line by line while it runs");
  repl->add_option("--on", options.backend, "backend to begin with: host, null, or a call such as host(threads: 2)")
      ->type_name("B");
  repl->add_option("ARGS", options.arguments, "after --: what args() gives");
  CLI::App* bench = app.add_subcommand("bench", "reproducible measurements beside their peers");
  bench->add_option("NAME", options.topic, "build, chains, channels, front, loops, ops or replay; none: all but build");
  bench->add_option("-n", options.count, "how many tasks");
  bench->add_option("--threads", options.thread_list, "numbers of threads, such as 1,2");
  bench->add_option("--repeats", options.repeats, "runs of each, interleaved");
  add_diagnostics(app, options);
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace taskspec::cli
