// Runs a command line in a folder of its own and keeps what came out.
//
//   ToolOutcome o = in_shell("taskspec explain E2003");      o.code, o.out, o.err
//
// `taskspec` is the tool that was built with these tests.
#pragma once
#include <string>

#include "tests/unit/temporary_folder.hpp"

struct ToolOutcome {
  int code = -1;  // 128 + signal, as in a shell
  std::string out, err;
};

// Standard input is empty; `seconds` later the command is stopped (code 124).
ToolOutcome in_shell(const std::string& command, const TemporaryFolder& folder = TemporaryFolder(), int seconds = 60);
