// Reads and checks a program, with all that it imports.
#include "interp/load.hpp"

#include "frontend/check.hpp"
#include "interp/prelude.hpp"
#include "ir/files/files.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

Result<Program> load_program(const std::string& path, const LoadOptions& options, const Toolbox& tools,
                             Sources& sources) {
  try {
    std::string text = read_text(path == "-" ? "/dev/stdin" : path);
    return check_text(path == "-" ? "<stdin>" : path, std::move(text), options, tools, sources);
  } catch (const Error& error) {
    return error.diags();
  }
}

Result<Program> check_text(const std::string& path, std::string text, const LoadOptions& options, const Toolbox& tools,
                           Sources& sources) {
  try {
    SourceId main = sources.add(path, std::move(text));
    Result<Program> program = check(sources, main,
                                    {.ops = tools.ops,
                                     .builtins = tools.builtins,
                                     .blocks = tools.blocks,
                                     .search_path = options.search_path,
                                     .prelude = prelude_folders(),
                                     .defines = options.defines,
                                     .read = [](const std::string& file) { return read_text(file); },
                                     .import_model = tools.import_model,
                                     .time_steps = options.time_steps});
    verified([&] {
      std::vector<std::string> wrong = program ? verify(*program) : std::vector<std::string>();
      return wrong.empty() ? std::string() : wrong[0];
    });
    return program;
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace taskspec
