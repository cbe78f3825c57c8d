// Functions of numbers by what they do: equal keys, equal numbers for equal arguments.
//
//   function_key(program, i => i * k)      // its code, and k
#pragma once
#include <string>

#include "ir/program/program.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// Numbers, texts, ranges, and lists and tuples of them.
bool is_plain_value(const Value& value);
// Code and captures of a function with nothing but plain ones; empty: it is another one.
std::string function_key(const Program& program, const Value& function);

}  // namespace taskspec
