#include "bench/subject.hpp"

#include <atomic>

#include "frontend/check.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/two_programs.hpp"
#include "ir/base/render.hpp"

namespace taskspec::bench {

namespace {

const Toolbox& tools() {
  static const Toolbox all = standard_toolbox();
  return all;
}

}  // namespace

Subject::Subject(const std::string& text) {
  const SourceId main = sources_.add("bench.task", text);
  Result<Program> program = check(sources_, main, {.ops = tools().ops, .builtins = tools().builtins});
  if (!program) bug("a benchmark does not compile: " + render(sources_, program.diags()));
  program_ = std::move(*program);
  cut_ = cut_program(program_);
}

SessionReport Subject::run_cut(const RunSettings& settings) const {
  return finish(run_two_programs(cut_, tools(), settings));
}

void Subject::run_direct() const { finish(run_directly(program_, tools(), settings())); }

std::size_t Subject::messages() const {
  std::atomic<std::size_t> ends{0};
  RunSettings counting = settings();
  counting.pause = [&](Part) { ++ends; };
  run_cut(counting);
  return ends / 2;
}

RunSettings Subject::settings() {
  RunSettings settings;
  settings.threads = 1;
  settings.output = [](std::string_view) {};
  return settings;
}

SessionReport Subject::finish(const RunResult& result) const {
  if (result.exit_code != 0) bug("a benchmark fails: " + render(sources_, result.diags));
  return result.report;
}

}  // namespace taskspec::bench
