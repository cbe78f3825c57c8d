// Programs run inside the tests, text to output.
//
//   Ran ran = run_text("print(1 + 1)");      ran.output == "2\n", ran.code == 0, ran.errors == ""
#pragma once
#include <string>
#include <string_view>

#include "interp/pipeline.hpp"

struct Ran {
  std::string output;  // standard output
  std::string errors;  // diagnostics, rendered
  int code = 0;        // 1: it does not check; else as taskspec::RunResult
  taskspec::Diags diags;
  taskspec::SessionReport report;
};

// All ops and builtins.
const taskspec::Toolbox& standard_toolbox();

// `tools` may hold more than the standard ones.
Ran run_text(const std::string& text, taskspec::RunSettings settings, const taskspec::Toolbox& tools);
Ran run_text(const std::string& text, const taskspec::RunSettings& settings = {});
// Without cutting it in two.
Ran run_text_directly(const std::string& text, const taskspec::RunSettings& settings = {});

// What is after `// expect: `, line by line; each with a line end.
std::string expected_output(std::string_view program);
