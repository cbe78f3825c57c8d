// Arithmetic on values of the host program, exactly as in the language: ints are checked, floats are IEEE,
// a mix of both is float. These are the `scalar` functions of op records: operands in declared order, types
// already checked by the rule. What goes wrong throws Error: E5001 overflow, E5002 division by zero.
//
//   scalar::add(std::array<Value, 2>{1, 2.5}).real() == 3.5
#pragma once
#include <span>

#include "ir/types/value.hpp"

namespace taskspec::scalar {

using Operands = std::span<const Value>;

Value add(Operands v);  // numbers, strings, lists
Value sub(Operands v);
Value mul(Operands v);
Value div(Operands v);  // of ints: towards zero
Value mod(Operands v);  // sign of the left side
Value pow(Operands v);  // of ints: an int; a negative exponent is E5003
Value neg(Operands v);

Value lt(Operands v);  // numbers, strings
Value le(Operands v);
Value gt(Operands v);
Value ge(Operands v);
Value eq(Operands v);  // any
Value ne(Operands v);

Value bit_and(Operands v);  // ints, bools
Value bit_or(Operands v);
Value bit_not(Operands v);

Value minimum(Operands v);  // nan wins
Value maximum(Operands v);
Value abs(Operands v);
Value sign(Operands v);

Value convert(Operands v);  // a number or bool, as a written type says

Value sum(Operands v);  // of a list
Value min(Operands v);
Value max(Operands v);

// A function of one float, such as std::exp; an int becomes a float first.
template <double (*function)(double)>
Value real_function(Operands v) {
  return function(v[0].real());
}

}  // namespace taskspec::scalar

namespace taskspec {

// The nearest integer in [minimum, maximum], half to even; nan gives 0.
std::int64_t saturated(double value, std::int64_t minimum, std::int64_t maximum);

// `value as kind` between host scalars: int, float, bool.
Value convert_scalar(const Value& value, Type::Kind kind);

// A host number or bool as a tensor of rank 0, as it stands beside a tensor of this precision: exact or E5001.
Array scalar_array(const Value& value, Precision precision);
void put_scalar(const Value& value, Array& element);  // the same, in place

}  // namespace taskspec
