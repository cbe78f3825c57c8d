// The values of number and string literals.
//
//   int_value("0xFF")           // 255
//   string_value("\"a\\n\"")    // a, line feed
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/token.hpp"

namespace taskspec {

std::optional<std::int64_t> int_value(std::string_view literal);  // nothing above 2^63 - 1
std::optional<double> float_value(std::string_view literal);      // nothing where only infinity is near

struct BadEscape {
  std::size_t begin, end;  // bytes of the literal
  const char* reason;
};
// Takes the quotes off and resolves escapes. Bad ones are appended to `bad`, if given, and left out.
std::string string_value(std::string_view literal, std::vector<BadEscape>* bad = nullptr);

// Reports E0003 and E0004 on all literals, so that nobody after this has to ask whether they have a value.
void check_literals(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags);

}  // namespace taskspec
