#include "tests/unit/programs.hpp"

#include "frontend/check.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/prelude.hpp"
#include "ir/base/render.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

using namespace taskspec;

namespace {

Ran run_with(const std::string& text, RunSettings settings, const Toolbox& tools, decltype(run_program)* run) {
  Ran ran;
  Sources sources;
  const SourceId main = sources.add("test.task", text);
  Result<Program> program = check(sources, main,
                                  {.ops = tools.ops,
                                   .builtins = tools.builtins,
                                   .blocks = tools.blocks,
                                   .prelude = prelude_folders(),
                                   .read = [](const std::string& file) { return read_text(file); }});
  ran.diags = program.diags();
  ran.errors = render(sources, ran.diags);
  if (!program) {
    ran.code = 1;
    return ran;
  }
  settings.output = [&](std::string_view part) { ran.output += part; };
  const RunResult result = run(*program, tools, settings);
  ran.diags.append(result.diags);
  ran.errors += render(program->sources, result.diags);
  ran.code = result.exit_code;
  ran.report = result.report;
  return ran;
}

}  // namespace

Ran run_text(const std::string& text, RunSettings settings, const Toolbox& tools) {
  return run_with(text, std::move(settings), tools, run_program);
}

Ran run_text_directly(const std::string& text, const RunSettings& settings) {
  return run_with(text, settings, ::standard_toolbox(), run_directly);
}

const Toolbox& standard_toolbox() {
  static const Toolbox tools = taskspec::standard_toolbox();
  return tools;
}

Ran run_text(const std::string& text, const RunSettings& settings) {
  return run_text(text, settings, ::standard_toolbox());
}

std::string expected_output(std::string_view program) {
  constexpr std::string_view mark = "// expect: ";
  std::string lines;
  for (std::string_view line : lines_of(program)) {
    const std::size_t at = line.find(mark);
    if (at != std::string_view::npos) lines.append(line.substr(at + mark.size())) += "\n";
  }
  return lines;
}
