// Golden files: beside x.task, x.ast, x.program, x.slices, x.graph, x.chains and x.plan hold what `taskspec graph
// --stage` prints, x.json what `--format json` prints, and x.err the diagnostics in full. `...` in them stands for any
// text. Internal to `taskspec test`.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "interp/cli/commands.hpp"
#include "interp/cli/expectation.hpp"

namespace taskspec::cli {

// One of a stage makes a file a test; x.err does not, it goes with // error lines.
bool has_stage_golden(const std::filesystem::path& file);

// The first difference, in words; empty if there is none. With options.update the files that differ are rewritten
// instead; a new one begins as an empty file.
std::string golden_difference(const std::filesystem::path& file, const Observed& seen, const Options& options,
                              const Toolbox& tools);

// The text with the name of this folder before a file replaced, so that it holds wherever the tree stands.
std::string with_folder(std::string text, const std::filesystem::path& folder, const std::filesystem::path& instead);

}  // namespace taskspec::cli
