// Types compared without their extents: what can be known of a program from a file before it runs.
//
//   agree(f32[N], f32[4])      // true
//   fits(float, int)           // true: an int may stand for a float
#pragma once
#include "ir/program/program.hpp"

namespace taskspec {

bool agree(const Type& a, const Type& b);
bool fits(const Type& wanted, const Type& given);
bool holds(const Type& type, const Value& value);

// A function as a value: fn(T) -> U, or task(a: T) -> (y: U); and what a call of such a value gives.
Type value_type(const Function& function);
Type called(const Type& callable);

// What the rule of an op or builtin says of operands of these types; values are those of constants, else null.
// Throws Error E7003 with the words of the rule.
Type ruled(TypeRule rule, std::vector<Type> types, std::vector<const Value*> values);

}  // namespace taskspec
