// `taskspec test`: every .task file is its own test. What it says about itself stands in expectation.hpp, which golden
// files may stand beside it in goldens.hpp.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "interp/cli/commands.hpp"
#include "interp/cli/expectation.hpp"
#include "interp/cli/goldens.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace fs = std::filesystem;

namespace {

// The working folder while a program runs: new, empty, and gone afterwards with all that was written into it.
class Scratch {
 public:
  Scratch() : before_(fs::current_path()) {
    std::string name = (fs::temp_directory_path() / "taskspec-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw failure("E7004", {}, "no folder can be made in '" + fs::temp_directory_path().string() + "'");
    folder_ = name;
    fs::current_path(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(folder_, ignored);
  }

 private:
  fs::path before_, folder_;
};

// `file` is absolute: what the program reads is looked up beside it, wherever it runs.
Observed observe(const fs::path& file, const Options& options, const Toolbox& tools) {
  Observed seen;
  Result<Program> program = load_program(file.string(), load_options(options), tools, seen.sources);
  seen.diags = program.diags();
  if (!program) return seen.exit_code = 1, seen;
  seen.sources = program->sources;
  RunSettings settings;
  settings.threads = options.threads;
  settings.output = [&](std::string_view text) { seen.output += text; };
  settings.interrupted = &interrupted();
  Scratch scratch;
  RunResult result = run_program(*program, tools, settings);
  seen.diags.append(result.diags);
  seen.exit_code = result.exit_code;
  return seen;
}

// What is wrong, in words; empty if nothing is.
std::string run_test(const fs::path& file, const Expectation& expectation, Options options, const Toolbox& tools) {
  options.defines = expectation.defines;
  const fs::path whole = fs::absolute(file).lexically_normal();
  Observed seen = observe(whole, options, tools);
  std::string problem = difference(expectation, seen);
  if (problem.empty()) problem = golden_difference(whole, seen, options, tools);
  return with_folder(problem, whole.parent_path(), file.parent_path());
}

std::vector<fs::path> all_tests() {
  std::vector<fs::path> files;
  for (const char* folder : {"examples", "tests"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      // What test cases of the tool start from, some of it broken on purpose, is no test of its own.
      if (entry.path().extension() == ".task" && entry.path().parent_path().filename() != "given")
        files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Modules and data of other tests say nothing about themselves; named on the command line they must only run.
bool says_something(const Expectation& e, const fs::path& file) {
  return e.has_lines || !e.errors.empty() || !e.labels.empty() || has_stage_golden(file);
}

bool is_selected(const Expectation& e, const Options& options) {
  auto wanted = [&](const std::string& label) { return std::count(e.labels.begin(), e.labels.end(), label) > 0; };
  return options.labels.empty() || std::any_of(options.labels.begin(), options.labels.end(), wanted);
}

int nothing_found(const Options& options) {
  if (options.labels.empty()) return usage("no test is below examples and tests here");
  return usage("no test carries the label " + joined(options.labels, " or "));
}

}  // namespace

int test(const Options& options, const Toolbox& tools) {
  const bool all = options.files.empty();
  std::vector<fs::path> files = all ? all_tests() : std::vector<fs::path>(options.files.begin(), options.files.end());
  std::size_t passed = 0, failed = 0;
  for (const fs::path& file : files) {
    std::string problem;
    try {
      Expectation e = read_expectation(read_text(file.string()));
      if ((all && !says_something(e, file)) || !is_selected(e, options)) continue;
      problem = run_test(file, e, options, tools);
    } catch (const Error& error) {
      problem = render(Sources(), error.diags());
    }
    if (interrupted()) return 130;
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) write_out("FAILED " + file.string() + "\n  " + problem + "\n");
  }
  if (passed + failed == 0) return nothing_found(options);
  write_out(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed\n");
  flush_out();
  return failed == 0 ? 0 : 4;
}

}  // namespace taskspec::cli
