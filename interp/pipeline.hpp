// The whole way of a program: text -> Program -> session on a backend. What the command line and the tests
// share.
//
//   Toolbox tools{standard_ops(), standard_builtins()};
//   Sources sources;
//   Result<Program> program = load_program("hello.task", {}, tools, sources);
//   RunResult result = run_program(*program, tools, {});
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interp/control/host_context.hpp"
#include "interp/control/session.hpp"
#include "ir/base/result.hpp"
#include "ir/slices.hpp"

namespace taskspec {

// Everything that exists of the kinds that others are handed as tables.
struct Toolbox {
  OpTable ops;
  BuiltinTable builtins;
};

using Defines = std::vector<std::pair<std::string, std::string>>;  // -D name=value

struct LoadOptions {
  Defines defines;
  std::vector<std::string> search_path;  // TASKSPEC_PATH; then comes the prelude
};

// "-" is standard input. What was read is added to `sources`, also when there are errors, to show where they are.
Result<Program> load_program(const std::string& path, const LoadOptions& options, const Toolbox& tools,
                             Sources& sources);
// The same for a text that stands in no file; it imports from the folder of `path`.
Result<Program> check_text(const std::string& path, std::string text, const LoadOptions& options, const Toolbox& tools,
                           Sources& sources);

// What stands after `on` in the language, such as "host(threads: 2)": from a command line.
Result<BackendChoice> read_backend(const std::string& written, const Toolbox& tools, Sources& sources);

struct RunSettings {
  BackendChoice on;  // of the session of the program itself
  // For every session, whatever the text or `on` says:
  int threads = 0;  // 0: as they say
  std::optional<Schedule> schedule;
  bool record = false;
  bool keep_graph = false;             // somebody will look at the sessions' graphs: nothing is given back
  std::size_t window = 4096;           // tasks that may be pending, about; 0: any number (SessionOptions)
  std::size_t sweep = 8192;            // entries between two sweeps of a session, at least
  std::vector<std::string> arguments;  // after --
  std::function<void(std::string_view)> output;
  Screen screen;
  const std::atomic<bool>* interrupted = nullptr;
  const Natives* natives = nullptr;  // behind `extern` tasks
  // Of the two programs that run beside each other:
  SliceOptions slices;
  std::size_t capacity = 64;        // messages that wait in one channel at most
  std::function<void(Part)> pause;  // called before each message, for tests
};

struct RunResult {
  int exit_code = 0;  // 0, 3, 130, or what exit(code) said
  Diags diags;
  SessionReport report;
};

// Cut in two, both parts at the same time.
RunResult run_program(const Program& program, const Toolbox& tools, const RunSettings& settings);
// By one interpreter that runs host code and records tensor operations on its way, as at the prompt.
RunResult run_directly(const Program& program, const Toolbox& tools, const RunSettings& settings);

// One graph by itself on given inputs (by parameter: an Array for a tensor, else a host value).
struct GraphRun : RunResult {
  std::vector<std::pair<std::string, Array>> results;
};
GraphRun run_graph(const Program& program, FunctionId graph, std::vector<Value> inputs, const Toolbox& tools,
                   const RunSettings& settings);

// The graph of the main module that goes by this name; invalid if there is none. Graphs of agents are not among them.
FunctionId find_graph(const Program& program, const std::string& name);
std::vector<FunctionId> graphs_of(const Program& program);  // of the main module, in order of their text

Schedule schedule_of(const std::string& name);  // push if it is empty
std::unique_ptr<Backend> make_backend(const std::string& name, int threads);

}  // namespace taskspec
