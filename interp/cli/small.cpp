// The small commands: check, fmt, explain, doc, and what all commands share.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "frontend/check.hpp"
#include "frontend/format.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "ir/base/text.hpp"
#include "ir/codes/codes.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

bool is_quiet = false;

}  // namespace

void be_quiet_about_usage() { is_quiet = true; }

int usage(const std::string& message) {
  if (!is_quiet) std::fprintf(stderr, "taskspec: %s\n", message.c_str());
  return 2;
}

LoadOptions load_options(const Options& options) {
  LoadOptions load{options.defines, {}};
  if (options.time_steps > 0) load.time_steps = options.time_steps;
  if (const char* path = std::getenv("TASKSPEC_PATH")) {
    std::string folders(path);
    for (std::size_t begin = 0; begin <= folders.size();) {
      std::size_t end = std::min(folders.find(':', begin), folders.size());
      if (end > begin) load.search_path.push_back(folders.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return load;
}

std::optional<std::string> unknown_define(const Options& options, const Program& program) {
  for (const auto& define : options.defines)
    if (!takes_define(program, define.first))
      return "-D " + define.first + ": there is no top-level let and no parameter of fn main by this name";
  return std::nullopt;
}

namespace {

// In words; empty if the file may be a program.
std::string refused_library(const std::string& file) {
  if (!file.ends_with(".tasklib")) return "";
  return file + " is a library, not a program; a program imports it by its name";
}

}  // namespace

Loaded load(const Options& options, const Toolbox& tools) {
  if (std::string refused = refused_library(options.files[0]); !refused.empty()) return {std::nullopt, usage(refused)};
  Sources sources;
  Result<Program> program = load_program(options.files[0], load_options(options), tools, sources);
  report(options, sources, program.diags());
  if (!program) return {std::nullopt, 1};
  if (auto problem = unknown_define(options, *program)) return {std::nullopt, usage(*problem)};
  return {std::move(*program), 0};
}

int check(const Options& options, const Toolbox& tools) {
  bool wrong = false;
  for (const std::string& file : options.files) {
    if (std::string refused = refused_library(file); !refused.empty()) return usage(refused);
    Sources sources;
    Result<Program> program = load_program(file, load_options(options), tools, sources);
    report(options, sources, program.diags());
    wrong = wrong || !program;
    if (!program) continue;
    if (auto problem = unknown_define(options, *program)) return usage(*problem);
    if (options.implicit_send.empty()) continue;
    const bool is_error = options.implicit_send == "error";
    const CutProgram cut = cut_program(*program);
    const Diags sends = implicit_sends(cut, is_error ? Severity::error : Severity::warning);
    if (calls_nothing(cut.program, report_cut(cut)))
      std::fprintf(stderr, "%s: the top level calls none of its functions, so nothing is sent\n", file.c_str());
    report(options, sources, sends);
    wrong = wrong || sends.has_errors();
  }
  return wrong ? 1 : 0;
}

int fmt(const Options& options) {
  bool wrong = false, would_change = false;
  for (const std::string& file : options.files) {
    Sources sources;
    try {
      bool standard = file == "-";
      SourceId id = sources.add(standard ? "<stdin>" : file, read_text(standard ? "/dev/stdin" : file));
      Result<std::string> text = format(sources, id);
      report(options, sources, text.diags());
      if (!text) {
        wrong = true;
      } else if (options.check_only) {
        if (*text == sources[id].text()) continue;
        would_change = true;
        write_out(file + " is not in canonical layout\n");
      } else if (standard) {
        write_out(*text);
      } else if (*text != sources[id].text()) {
        write_text(file, *text);
      }
    } catch (const Error& error) {
      report(options, sources, error.diags());
      wrong = true;
    }
  }
  flush_out();
  return wrong ? 1 : would_change ? 4 : 0;
}

int explain(const Options& options) {
  if (options.topic.empty()) {
    for (const CodeInfo* info : all_codes()) write_out(info->code.text() + "  " + std::string(info->summary) + "\n");
    flush_out();
    return 0;
  }
  if (const CodeInfo* info = find_code_named(options.topic)) {
    write_words(taskspec::explain(*info));
    flush_out();
    return 0;
  }
  return usage("no code " + options.topic + "; 'taskspec explain' lists all");
}

}  // namespace taskspec::cli
