// Mistakes in C++ calls, shown with their lines.
//
//   fail("E1003", at, "this body takes 2 values, task 'energy' has 3 parameters", "...");
#pragma once
#include <map>

#include "ir/base/diag.hpp"
#include "taskspec/error.hpp"
#include "taskspec/operand.hpp"

namespace taskspec::dsl::detail {

// Places in C++ files as spans of sources. A file that cannot be read counts as one of blank lines.
class Places {
 public:
  explicit Places(Sources& sources) : sources_(sources) {}
  Span line(At at);  // the line without its indentation; no place if `at` has none
  Sources& sources() { return sources_; }

 private:
  Sources& sources_;
  std::map<std::string, SourceId> files_;
};

dsl::Error error_of(const Sources& sources, const Diags& diags);
[[noreturn]] void fail(Code code, At at, std::string message, std::string help = "");

}  // namespace taskspec::dsl::detail
