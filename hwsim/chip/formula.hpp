// The formula of a derived figure, as a chip file writes it: numbers, + - * /, parentheses, and other figures by their
// JSON pointers in braces.
//
//   evaluate("(0.2 + 0.1) * 0.6", ...).value == 0.18        evaluate("2 * {/mac/outputs}", look_up)
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace taskspec {

struct FormulaValue {
  std::optional<double> value;  // finite
  std::string fault;            // why there is none
};

// What a pointer stands for; none: the fault says so.
using FormulaLookUp = std::function<std::optional<double>(std::string_view pointer)>;

FormulaValue evaluate(std::string_view formula, const FormulaLookUp& look_up);

}  // namespace taskspec
