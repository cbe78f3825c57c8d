// Host values that are known now are computed now.
//
//   2 * 3      ->      %0 constant 6
#pragma once
#include "frontend/check/record_call.hpp"

namespace taskspec::checking {

// The result as a constant; nothing if it cannot be known, or is better left to the run. What goes wrong
// (overflow, division by zero) is an error of the program already.
std::optional<Term> fold(Body& body, const Record& record, const std::vector<RuleOperand>& operands, const Type& type,
                         Span span);

// `parts` as one constant, where all of them are; the parts are taken back.
std::optional<List> constant_parts(Body& body, const std::vector<Term>& parts);

}  // namespace taskspec::checking
