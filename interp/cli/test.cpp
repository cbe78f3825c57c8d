// `taskspec test`: every .task file is its own test.
//
//   // expect: line        the program's output, line by line; ... stands for any text
//   // error E2003 @4      the diagnostic it must give instead, and the line of it
//   // label A3            what --label selects
//
// Beside x.task, golden files x.chains, x.graph, x.plan, x.program, x.ast and x.err hold what `taskspec graph
// --stage` prints and the diagnostics in full; --update rewrites those that exist.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace fs = std::filesystem;

namespace {

struct Expectation {
  std::vector<std::string> lines;
  bool has_lines = false;
  std::vector<std::pair<std::string, std::uint32_t>> errors;  // code, line (0: any)
  std::vector<std::string> labels;
  std::vector<std::string> arguments;                         // // args: a b
  Defines defines;                                            // // define: name=value
};

Expectation read_expectation(std::string_view text) {
  Expectation e;
  for (std::string_view line : lines_of(text)) {
    auto after = [&](std::string_view mark) -> std::optional<std::string> {
      std::size_t at = line.find(mark);
      if (at == std::string_view::npos) return std::nullopt;
      return std::string(line.substr(at + mark.size()));
    };
    if (auto expected = after("// expect:")) {
      e.has_lines = true;
      e.lines.push_back(expected->starts_with(" ") ? expected->substr(1) : *expected);
    } else if (auto error = after("// error E")) {
      std::size_t at = error->find('@');
      e.errors.emplace_back("E" + error->substr(0, 4),
                            at == std::string::npos ? 0 : static_cast<std::uint32_t>(std::atoi(error->c_str() + at + 1)));
    } else if (auto label = after("// label ")) {
      e.labels.push_back(label->substr(0, label->find_last_not_of(" \r") + 1));
    } else if (auto define = after("// define: ")) {
      std::size_t at = define->find('=');
      if (at != std::string::npos) e.defines.emplace_back(define->substr(0, at), define->substr(at + 1));
    }
  }
  return e;
}

// `...` in the pattern stands for any text.
bool matches(std::string_view pattern, std::string_view line) {
  std::size_t dots = pattern.find("...");
  if (dots == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, dots))) return false;
  std::string_view rest = pattern.substr(dots + 3);
  line.remove_prefix(dots);
  for (std::size_t skip = 0; skip <= line.size(); ++skip)
    if (matches(rest, line.substr(skip))) return true;
  return false;
}

// What a file did: its standard output, its diagnostics, its exit code.
struct Observed {
  std::string output;
  Diags diags;
  Sources sources;
  int exit_code = 0;
};

Observed observe(const fs::path& file, const Expectation& expectation, const Options& options, const Toolbox& tools) {
  Observed seen;
  LoadOptions load = load_options(options);
  load.defines = expectation.defines;
  Result<Program> program = load_program(file.string(), load, tools, seen.sources);
  seen.diags = program.diags();
  if (!program) return seen.exit_code = 1, seen;
  seen.sources = program->sources;
  RunSettings settings;
  settings.threads = options.threads;
  settings.output = [&](std::string_view text) { seen.output += text; };
  settings.interrupted = &interrupted();
  RunResult result = run_program(*program, tools, settings);
  seen.diags.append(result.diags);
  seen.exit_code = result.exit_code;
  return seen;
}

// The first difference, in words; empty if there is none.
std::string compare_output(const Expectation& e, const Observed& seen) {
  std::vector<std::string_view> got = lines_of(seen.output);
  for (std::size_t i = 0; i < std::max(got.size(), e.lines.size()); ++i) {
    if (i >= e.lines.size()) return "line " + std::to_string(i + 1) + " is more than expected: " + std::string(got[i]);
    if (i >= got.size()) return "line " + std::to_string(i + 1) + " is missing: " + e.lines[i];
    if (!matches(e.lines[i], got[i]))
      return "line " + std::to_string(i + 1) + "\n    expected: " + e.lines[i] + "\n    printed:  " + std::string(got[i]);
  }
  return "";
}

std::string compare_errors(const Expectation& e, const Observed& seen) {
  for (const auto& [code, line] : e.errors) {
    bool found = false;
    for (const Diag& diag : seen.diags.items()) {
      Span span = diag.primary.span;
      std::uint32_t at = span.valid() ? seen.sources[span.source].position(span.begin).line : 0;
      found = found || (diag.code.text() == code && (line == 0 || at == line));
    }
    if (!found)
      return "expected " + code + (line ? " at line " + std::to_string(line) : "") + "; got\n" +
             (seen.diags.empty() ? "no diagnostic" : render(seen.sources, seen.diags));
  }
  std::size_t errors = 0;
  for (const Diag& diag : seen.diags.items()) errors += diag.severity == Severity::error;
  if (errors > e.errors.size()) return "more errors than expected:\n" + render(seen.sources, seen.diags);
  return "";
}

std::string compare_goldens(const fs::path& file, const Observed& seen, const Options& options, const Toolbox& tools) {
  for (const char* stage : {"ast", "program", "graph", "chains", "plan", "json", "err"}) {
    fs::path golden = fs::path(file).replace_extension(stage);
    if (!fs::exists(golden)) continue;
    std::string text = std::string(stage) == "err" ? render(seen.sources, seen.diags) : stage_text(file.string(), stage, options, tools);
    // Paths in goldens are relative to the file, so that they hold wherever the tree stands.
    for (std::size_t at; (at = text.find(file.string())) != std::string::npos;)
      text.replace(at, file.string().size(), file.filename().string());
    std::string wanted = read_text(golden.string());
    if (text == wanted) continue;
    if (options.update) {
      write_text(golden.string(), text);
      continue;
    }
    std::vector<std::string_view> a = lines_of(wanted), b = lines_of(text);
    std::size_t line = 0;
    while (line < a.size() && line < b.size() && a[line] == b[line]) ++line;
    return golden.string() + " differs at line " + std::to_string(line + 1) + "\n    golden: " +
           (line < a.size() ? std::string(a[line]) : "(end)") + "\n    now:    " + (line < b.size() ? std::string(b[line]) : "(end)");
  }
  return "";
}

std::string run_test(const fs::path& file, const Expectation& e, const Options& options, const Toolbox& tools) {
  Observed seen = observe(file, e, options, tools);
  std::string problem;
  if (!e.errors.empty()) {
    problem = compare_errors(e, seen);
  } else if (seen.exit_code != 0) {
    problem = "exit code " + std::to_string(seen.exit_code) + "\n" + render(seen.sources, seen.diags);
  }
  if (problem.empty() && e.has_lines) problem = compare_output(e, seen);
  if (problem.empty()) problem = compare_goldens(file, seen, options, tools);
  return problem;
}

std::vector<fs::path> all_tests() {
  std::vector<fs::path> files;
  for (const char* folder : {"examples", "tests"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      // What test cases of the tool start from, some of it broken on purpose, is no test of its own.
      if (entry.path().extension() == ".task" && entry.path().parent_path().filename() != "given") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int test(const Options& options, const Toolbox& tools) {
  std::vector<fs::path> files(options.files.begin(), options.files.end());
  bool all = files.empty();
  if (all) files = all_tests();
  std::size_t passed = 0, failed = 0;
  for (const fs::path& file : files) {
    std::string problem;
    try {
      Expectation e = read_expectation(read_text(file.string()));
      // Modules and data of other tests say nothing about themselves; named on the command line they must only run.
      if (all && !e.has_lines && e.errors.empty() && e.labels.empty()) continue;
      auto wanted = [&](const std::string& label) { return std::count(e.labels.begin(), e.labels.end(), label) > 0; };
      if (!options.labels.empty() && std::none_of(options.labels.begin(), options.labels.end(), wanted)) continue;
      problem = run_test(file, e, options, tools);
    } catch (const Error& error) {
      problem = render(Sources(), error.diags());
    }
    if (interrupted()) return 130;
    ++(problem.empty() ? passed : failed);
    if (!problem.empty()) write_out("FAILED " + file.string() + "\n  " + problem + "\n");
  }
  write_out(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed\n");
  flush_out();
  return failed == 0 ? 0 : 4;
}

}  // namespace taskspec::cli
