// Where the values of a function lie in its frames: arguments first, then variables and what calls give.
//
//   %3 variable s   %4 op add(%3, %1)   write s %4        all three are the one register of s
//
// A call that only names something has no register of its own: a constant is one of the function's, a parameter its
// argument, a variable that nobody changes before the value was used the variable. What is made to be written at once
// is made in the variable.
#pragma once
#include <vector>

#include "interp/control/reads.hpp"

namespace taskspec {

struct Registers {
  std::vector<std::int32_t> calls;       // by CallId: a register, or ~k: constant k
  std::vector<bool> own;                 // by CallId: nobody else uses its register
  std::vector<bool> passed_on;           // by CallId: nobody reads it but the call right behind it
  std::vector<std::uint32_t> variables;  // by VariableId
  std::vector<std::uint32_t> loops;      // two registers each, from here on: over what, and how far
  std::vector<Value> constants;
  // Of scalars that the call behind takes, and of calls that give nothing; none so far.
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t hand = none, nothing = none;
  std::uint32_t count = 0;

  bool is_constant(CallId call) const { return calls[call.index()] < 0; }
  // What `write` does is done when its value is made.
  bool made_in_place(const Call& write) const {
    const CallId value = write.in[0];
    return !own[value.index()] && calls[value.index()] == static_cast<std::int32_t>(variables[write.variable.index()]);
  }
};

// For the calls that `reads` knows; older ones keep their registers. `places`: variables that hold versions of a place.
void place_values(const Reads& reads, const std::vector<bool>& places, Registers& registers);

}  // namespace taskspec
