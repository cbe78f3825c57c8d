// The registry of diagnostics: what each code means in general. A diagnostic itself says what is wrong at one place;
// `taskspec explain E2001` prints the record below.
//
//   find_code("E2001")->summary      // "shapes differ"
//   explain(*find_code("E2001"))     // program, cause and fix
//
// A new code: one record in the file of its family under ir/codes/, and a test (tests/guard tells which is missing).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

// How a user can get to see a code today.
enum class Reach : std::uint8_t {
  program,       // the record's program gives it, whenever it is run; a test does so
  circumstance,  // it also takes a file, a signal or a size; the program says which
  later,         // belongs to a part that is not built yet
};

struct CodeInfo {
  Code code;
  std::string_view summary;  // one line, lower case, no final stop
  std::string_view program;  // the smallest text that gives the code
  std::string_view cause;
  std::string_view fix;
  Reach reach = Reach::program;
};

const CodeInfo* find_code(Code code);               // null: not registered
const CodeInfo* find_code_named(std::string_view);  // as one types it: "E1004", "e1004", "1004"
std::vector<const CodeInfo*> all_codes();           // ascending

std::string explain(const CodeInfo& info);

}  // namespace taskspec
