// All commands and options, once: parsing, help, the manual page and shell completion come from here. The only source
// that reads CLI11, which takes seconds.
#include "interp/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

#include "interp/cli/option_table.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;  // the table points into the rest

  Options options;
  std::vector<std::string> defines;  // -D as written
  CLI::App app;
};

// ---- the table ------------------------------------------------------------------------------------

void add_defines(CLI::App& app, std::vector<std::string>& raw, const char* more = "") {
  app.add_option("-D", raw, std::string("name=value: replaces a top-level let or a default of fn main") + more)
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

// Options of backends that have them, whatever the text says.
void add_backend_options(CLI::App& app, Options& o, bool only_mapper = false) {
  struct BackendOption {
    const char *name, *type, *doc;
    bool is_of_run = false;        // and no matter of the mapper
    const char* option = nullptr;  // what the backend calls it, where that is something else
  };
  constexpr BackendOption known[] = {
      {"chip", "C", "of hw: the chip, or the path of its file"},
      {"chips", "X,Y", "of hw: how many chips side by side and in rows"},
      {"cores", "N", "of hw: only the first N cores"},
      {"objective", "O", "of hw: throughput, latency, energy or cores"},
      {"slabs", "N", "of hw: in how many batches of rows inputs come; 1: nothing streams"},
      {"depth", "N", "of hw: 2 gives receive buffers room for a second item"},
      {"noc", "M", "of hw: ideal, contended, flit or flit-all", true},
      {"frames", "N", "of hw: how many frames the clock looks at", true},
      {"check", "W", "of hw: engine compares every block with the exact engine", true},
      {"mapping", "FILE", "of hw: a mapping that m.save or map -o wrote"},
      {"optimise", "B", "of hw: a search for a better mapping first, 30s or 20000 moves"},
      {"shards", "N", "of mpi: how many shards run the program", true},
      {"safe", "LEVEL", "of mpi: how shards are watched: off, batch or every call", true, "level"},
      {"inject", "SHARD:CALL:ARGUMENT", "of mpi: this argument is another one on that shard", true},
      {"plans", "P", "of mpi: own, or all: what moves is found from lists of everything, to compare", true},
      {"instances", "I", "of mpi: flat, packed, or auto: memory of all elements of a region, or of those it touches",
       true},
      {"elide", "E", "of mpi: exact, or more: fences that further proofs spare, which the report counts apart", true},
      {"reduce", "R", "of mpi: points, or shard: what its points contribute a shard adds up before it sends it", true,
       "reduce_by"},
      {"timeout", "SECONDS", "of mpi: for how long a rank may be silent (30)", true},
      {"task-timeout", "SECONDS", "of mpi: for how long a shard may compute between two calls (no limit)", true,
       "task_timeout"},
      {"dump-dep", "FILE.json", "of mpi: write which points depend on which, and when each shard saw it", true,
       "dump_dep"},
  };
  for (const BackendOption& option : known) {
    if (only_mapper && option.is_of_run) continue;
    app.add_option_function<std::string>(
           std::string("--") + option.name,
           [&o, name = option.option ? option.option : option.name](const std::string& text) {
             o.backend_options.emplace_back(name, text);
           },
           option.doc)
        ->type_name(option.type);
  }
  app.add_option_function<std::string>(
         "--step-groups", [&o](const std::string& text) { o.backend_options.emplace_back("step_groups", text); },
         "of hw: groups of cores are dealt into N, whose members start each step together")
      ->type_name("N");
  app.add_flag_function(
      "--a2s2", [&o](std::int64_t) { o.backend_options.emplace_back("a2s2", "true"); },
      "of hw: with --depth 2, cores move in what came a phase before");
  if (only_mapper) return;
  app.add_flag_function(
      "--allow-delay", [&o](std::int64_t) { o.backend_options.emplace_back("allow_delay", "true"); },
      "of hw: loops of populations that are too short get the delay that they lack");
  app.add_flag_function(
      "--partial", [&o](std::int64_t) { o.backend_options.emplace_back("partial", "true"); },
      "of hw: ops that have no blocks run on the host");
}

void add_map(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* map = app.add_subcommand("map", "place a graph on the cores of a chip");
  map->add_option("FILE", o.files, "a .task file")->required()->expected(1);
  map->add_option("--name", o.graph, "this graph, ir declaration or net (let q = quantize(...)) of the file")
      ->type_name("G");
  map->add_option("--stage", o.stage, "only this of the mapping: split, phases, place or memory")
      ->check(CLI::IsMember({"split", "phases", "place", "memory"}));
  map->add_option("--explain", o.topic, "one unit: why it is mapped so, and what would change it")->type_name("UNIT");
  map->add_option("-o", o.output, "write the mapping as JSON, for --mapping")->type_name("FILE.json");
  add_backend_options(*map, o, true);
  add_defines(*map, defines);
}

void add_run(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* run = app.add_subcommand("run", "check a program, plan it and run it");
  run->add_option("FILE", o.files, "a .task file, a graph as .json, or - for standard input")->required()->expected(1);
  run->add_option("--name", o.graph, "run this graph of the file; -D gives its inputs, results are printed")
      ->type_name("G");
  run->add_option("--on", o.backend, "backend of the program: host, null, or a call such as host(threads: 2)")
      ->type_name("B");
  add_defines(*run, defines, "; gives an input of the graph that runs");
  run->add_option("--threads", o.threads, "threads of every session that has some (0: as it says itself)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  run->add_option("--schedule", o.schedule, "when tasks run: push, pull or eager")
      ->check(CLI::IsMember({"push", "pull", "eager"}));
  run->add_option("--time-steps", o.time_steps,
                  "run the graph, or what each session of the program is given, so often, with states carried over")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{INT32_MAX}))
      ->type_name("T");
  add_backend_options(*run, o);
  run->add_flag("--profile", o.profile, "after the output, one row per chain and one for memory");
  run->add_option_function<std::size_t>(
         "--ranks", [&o](const std::size_t& ranks) { o.ranks = ranks; },
         "on so many processes, by mpirun: shards are dealt to them")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  run->add_option_function<std::string>(
         "--trace-auto",
         [&o](const std::string& text) {
           o.backend_options.emplace_back("trace_auto", text == "on" ? "true" : "false");
         },
         "of mpi: on, or off: only what stands in trace { } is a trace")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off");
  run->add_flag_function(
      "--why-trace", [&o](std::int64_t) { o.backend_options.emplace_back("why_trace", "true"); },
      "of mpi: what stands against each trace that cannot be replayed");
  run->add_flag("--detect-nan", o.detect_nan,
                "stop at the op that makes the first nan, and say where it stands (slow)");
  run->add_option("--trace", o.trace, "write a timeline that Chrome and Perfetto open, of chips too")
      ->type_name("OUT.json");
  std::string& report = o.report.emplace();
  run->add_option("--report", report,
                  "the report after the output, or into FILE that ends in .json, .html, or .csv for runs on chips")
      ->expected(0, 1)
      ->type_name("[FILE]");
  run->add_option("ARGS", o.arguments, "after --: what args() gives");
}

void add_graph(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* graph = app.add_subcommand("graph", "show a program at any stage of its way");
  graph->add_option("FILE", o.files, "a .task file or a graph as .json")->required()->expected(1);
  graph
      ->add_option("--name", o.graph,
                   "only this graph; of the stage ops, this task; of blocks, a graph or an ir declaration")
      ->type_name("G");
  graph->add_option("--stage", o.stage, "ast, program, slices, ops, graph, chains, plan or blocks")
      ->check(CLI::IsMember({"ast", "program", "slices", "ops", "graph", "chains", "plan", "blocks"}));
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

void add_import(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* import = app.add_subcommand("import", "write a model file as a program, with its weights beside it");
  import->add_option("MODEL", o.files, "an .onnx, .nir or Task IR file")->required()->expected(1);
  import->add_option("-o", o.output, "the program; its weights go to the .npz of that name")
      ->type_name("FILE.task")
      ->required();
  import
      ->add_option("-D", defines, "name=value: a number for an open extent, or for an input that decides about shapes")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  // What a spiking network leaves open: the same as -D, by names of their own.
  struct Choice {
    const char *name, *type, *doc;
  };
  constexpr Choice choices[] = {
      {"like", "TOOL", "of .nir: make the choices of norse, snntorch, lava, nengo or sinabs"},
      {"dt", "SECONDS", "of .nir: the time step"},
      {"integrator", "I", "of .nir: euler or exact"},
      {"reset", "R", "of .nir: file, zero or subtract"},
      {"feedback", "STEPS", "of .nir: how many steps an edge backwards takes"},
      {"precision", "P", "of .nir: f32 or f64"},
  };
  for (const Choice& choice : choices)
    import
        ->add_option_function<std::string>(
            std::string("--") + choice.name,
            [&defines, name = std::string(choice.name)](const std::string& text) {
              defines.push_back(name + "=" + text);
},
            choice.doc)
        ->type_name(choice.type);
}  // namespace

void add_export(CLI::App& app, Options& o, std::vector<std::string>& defines) {
  CLI::App* command =
      app.add_subcommand("export", "write the blocks of an ir declaration as a Task IR file, a spiking graph as NIR");
  command->add_option("FILE", o.files, "a .task file")->required()->expected(1);
  command->add_option("-o", o.output, "the file: protobuf text, or bytes; .nir: a graph of one time step")
      ->type_name("FILE.task.txt|.task.pb|.nir")
      ->required();
  command->add_option("--name", o.graph, "this declaration, or this graph, of the file")->type_name("NAME");
  command->add_option("--dt", o.dt, "of traces in an .npz that go to .nir: the time step")->type_name("SECONDS");
  add_defines(*command, defines);
}

// Before the command or behind it, of those that have something to say about a program.
void add_diagnostics(CLI::App& app, Options& o) {
  auto add = [&o](CLI::App& to) {
    to.add_option("--diagnostics", o.diagnostics, "errors and warnings as text or json")
        ->check(CLI::IsMember({"text", "json"}));
  };
  add(app);
  for (const char* command : {"run", "check", "fmt", "graph", "slices", "map", "build", "import", "export", "repl"})
    add(*app.get_subcommand(command));
}

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
  add_map(app, options, defines);
  CLI::App* build = app.add_subcommand("build", "package a module as a library that is linked function by function");
  build->add_option("--lib", options.library, "the module, by the name that an import gives")
      ->type_name("NAME")
      ->required();
  build->add_option("-o", options.output, "where to; else where an import of NAME finds it from here")
      ->type_name("FILE");
  add_import(app, options, defines);
  add_export(app, options, defines);
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
  bench->add_option(
      "NAME", options.topic,
      "analysis, build, chains, channels, chip, chip:nets or chip:TRAFFIC.json, exact, front, loops, metg, ops, "
      "regions, replay, snn, strips, train or validation; none: all but build");
  bench->add_option("-n", options.count, "how many tasks");
  bench->add_option("--threads", options.thread_list, "numbers of threads, such as 1,2");
  bench->add_option("--shards", options.shard_list, "of metg: numbers of shards, such as 1,2");
  bench->add_option("--repeats", options.repeats, "runs of each, interleaved");
  add_diagnostics(app, options);
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// ---- as data --------------------------------------------------------------------------------------

// CLI11 writes the words that a checked option takes into its type: "TEXT:{push,pull,eager}".
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> list;
  if (begin == std::string::npos || end == std::string::npos) return list;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    list.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return list;
}

Flag flag_of(const CLI::Option& option) {
  Flag flag;
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  flag.text = option.get_description();
  if (option.get_items_expected_max() == 0) return flag;
  flag.value = option.get_type_name();
  flag.choices = choices_in(flag.value);
  if (!flag.choices.empty()) flag.value = joined(flag.choices, "|");
  return flag;
}

// ---- what is wrong with a command line ------------------------------------------------------------

std::string overview(const CLI::App& app) {
  std::string text = "usage: taskspec COMMAND ...\n\n";
  for (const CLI::App* command : commands_of(app))
    text += "  " + command->get_name() + std::string(10 - std::min<std::size_t>(9, command->get_name().size()), ' ') +
            command->get_description() + "\n";
  return text + "\ntaskspec COMMAND --help tells more; start with: taskspec run examples/01_hello.task\n";
}

// In words, with the command that was meant; empty if the first word is a command or an option.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return "";
  std::vector<std::string> commands;
  for (const CLI::App* command : commands_of(app)) {
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

// What CLI11 says of `run FILE a b` is right and helps nobody.
std::string more_files(const std::string& command, const CLI::ParseError& error) {
  const bool of_program = command == "run" || command == "repl";
  if (!of_program || error.get_name() != "ArgumentMismatch" ||
      std::string_view(error.what()).find("FILE") == std::string_view::npos)
    return "";
  return "taskspec " + command + ": takes one FILE; arguments of the program follow --: taskspec " + command +
         " FILE -- ARGS\n";
}

// `--` and what follows belong to the program, not to us. -O=0 is -O0.
std::vector<std::string> split_arguments(int argc, const char* const* argv, std::vector<std::string>& program) {
  std::vector<std::string> ours;
  int i = 1;
  for (; i < argc && std::string(argv[i]) != "--"; ++i) {
    std::string& word = ours.emplace_back(argv[i]);
    if (word.starts_with("-O=")) word.erase(2, 1);
  }
  for (++i; i < argc; ++i) program.emplace_back(argv[i]);
  return ours;
}

}  // namespace taskspec::cli

std::vector<Command> commands() {
  CommandLine line;
  std::vector<Command> commands;
  for (const CLI::App* app : commands_of(line.app)) {
    Command command{app->get_name(), app->get_description(), {}, {}, {}};
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) {
        command.operands.push_back(option->get_name());
        command.operand_texts.push_back(option->get_description());
      } else {
        command.flags.push_back(flag_of(*option));
      }
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

Parsed parse_arguments(int argc, const char* const* argv, bool at_terminal) {
  CommandLine line;
  CLI::App& app = line.app;
  Options& o = line.options;
  std::vector<std::string> ours = split_arguments(argc, argv, o.arguments);
  if (ours.empty() && !at_terminal) return {std::nullopt, overview(app), 2};
  if (ours.empty()) ours.emplace_back("repl");
  if (std::string unknown = unknown_command(app, ours[0]); !unknown.empty()) return {std::nullopt, unknown, 2};
  if (std::string unknown = unknown_option(app, ours); !unknown.empty()) return {std::nullopt, unknown, 2};
  const std::string command = ours[0];
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes them from the back
    app.parse(ours);
  } catch (const CLI::ParseError& error) {
    if (std::string more = more_files(command, error); !more.empty()) return {std::nullopt, more, 2};
    std::ostringstream out, err;
    int code = app.exit(error, out, err);
    return {std::nullopt, out.str() + err.str(), code == 0 ? 0 : 2};
  }
  const CLI::App* chosen = app.get_subcommands().front();
  o.command = chosen->get_name();
  if (o.command != "run" || chosen->count("--report") == 0) o.report.reset();
  for (const std::string& define : line.defines) {
    std::size_t at = define.find('=');
    if (at == std::string::npos || at == 0) return {std::nullopt, "-D wants name=value, not '" + define + "'\n", 2};
    o.defines.emplace_back(define.substr(0, at), define.substr(at + 1));
  }
  return {std::move(o), "", 0};
}

}  // namespace taskspec::cli
