// From a text to a checked program.
//
//   Sources sources;
//   Result<Program> program = load_program("hello.task", {}, tools, sources);
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interp/toolbox.hpp"
#include "ir/base/result.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

using Defines = std::vector<std::pair<std::string, std::string>>;  // -D name=value

struct LoadOptions {
  Defines defines;
  std::vector<std::string> search_path;         // TASKSPEC_PATH; then comes the prelude
  std::optional<std::int64_t> time_steps = {};  // --time-steps
};

// "-" is standard input. What was read is added to `sources`, also when there are errors, to show where they are.
Result<Program> load_program(const std::string& path, const LoadOptions& options, const Toolbox& tools,
                             Sources& sources);
// The same for a text that stands in no file; it imports from the folder of `path`.
Result<Program> check_text(const std::string& path, std::string text, const LoadOptions& options, const Toolbox& tools,
                           Sources& sources);

}  // namespace taskspec
