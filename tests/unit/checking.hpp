// Checking a text in a test: the program or its diagnostics, with a few builtins of the tests' own.
//
//   CHECK(error_of("print(enrgy)") == "E1001 1:7 unknown name 'enrgy'");
#pragma once
#include <string>
#include <vector>

#include "frontend/check.hpp"
#include "ir/program/program.hpp"

namespace taskspec::testing {

struct CheckCase {
  std::vector<std::pair<std::string, std::string>> defines = {};
  std::vector<std::string> search_path = {};
  bool at_prompt = false;
  std::string path = "test.task";
};

struct Checked {
  Sources sources;
  Result<Program> program;
};

// Every program that comes out is verified; what the verifier says is a failure of the test.
Checked checked(const std::string& text, const CheckCase& options = {});

// "E1001 1:7 unknown name 'enrgy'", one line per diagnostic, warnings as "warning E1008 ..."; empty if there are
// none. Places are those of the primary span.
std::string error_of(const std::string& text, const CheckCase& options = {});
// The same with labels and help: what a person reads, without the source lines.
std::string details_of(const std::string& text, const CheckCase& options = {});

// The dump of one function of a program that must be right.
std::string dump_of(const std::string& text, const std::string& function, const CheckCase& options = {});
// The type of the last top-level let, and its value if that is a constant.
std::string type_of_last(const std::string& text);
std::string value_of_last(const std::string& text);

// print, len, format, chains, check, map, filter, zip, clock, host, load, wait: types only, they cannot run.
BuiltinTable test_builtins();

}  // namespace taskspec::testing
