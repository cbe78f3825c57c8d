// All commands and options, once: parsing, help, the manual page and shell completion come from here.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "interp/cli/options.hpp"

namespace taskspec::cli {

struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;  // the table points into the rest

  Options options;
  std::vector<std::string> defines;  // -D as written
  CLI::App app;
};

std::vector<const CLI::App*> commands_of(const CLI::App& app);

}  // namespace taskspec::cli
