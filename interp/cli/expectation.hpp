// What a .task file says about itself, and what it did instead. Internal to `taskspec test`.
//
//   // expect: line        the program's output, line by line; ... stands for any text
//   // error E2003 @4      the diagnostic it must give instead, and the line of it
//   // label A3            what --label selects
//   // define: n=4         as -D n=4
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interp/load.hpp"

namespace taskspec::cli {

struct Expectation {
  std::vector<std::string> lines;
  bool has_lines = false;
  std::vector<std::pair<std::string, std::uint32_t>> errors;  // code, line (0: any)
  std::vector<std::string> labels;
  Defines defines;
};

Expectation read_expectation(std::string_view text);

// What a file did: its standard output, its diagnostics, its exit code.
struct Observed {
  std::string output;
  Diags diags;
  Sources sources;
  int exit_code = 0;
};

// The first difference, in words; empty if there is none.
std::string difference(const Expectation& expectation, const Observed& seen);

}  // namespace taskspec::cli
