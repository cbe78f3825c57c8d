// `taskspec bench`: hands over to the program of the benchmarks, which is built and installed apart, with their peers.
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "interp/cli/commands.hpp"

namespace taskspec::cli {

namespace {

namespace fs = std::filesystem;

// Beside this program where both are installed, in a folder of its own where both are built.
std::optional<fs::path> program_of_benchmarks(const fs::path& tool) {
  std::error_code ignored;
  const fs::path folder = tool.parent_path();
  for (const fs::path& place : {folder / "taskspec-bench", folder / "../../bench/taskspec-bench"})
    if (fs::exists(place, ignored)) return place;
  return std::nullopt;
}

}  // namespace

int bench(const Options& options) {
  std::error_code ignored;
  const fs::path tool = fs::read_symlink("/proc/self/exe", ignored);
  const std::optional<fs::path> program = program_of_benchmarks(tool);
  if (!program) return usage("the benchmarks are not built; './dev bench' builds them");
  std::vector<std::string> words{program->string(),
                                 tool.string(),
                                 options.topic,
                                 std::to_string(options.count),
                                 std::to_string(options.repeats),
                                 options.thread_list,
                                 options.shard_list};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // there it may end by it
  execv(arguments[0], arguments.data());
  return usage("'" + program->string() + "' does not start");
}

}  // namespace taskspec::cli
