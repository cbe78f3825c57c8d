// Values where a type is wanted: int becomes float, an invocation its single output, a host number a tensor of
// rank 0; the shapes of tensors are compared. Nothing else converts by itself.
#pragma once
#include "frontend/check/match.hpp"

namespace taskspec::checking {

// The one output of an invocation, where it has exactly one; reports of a session do not count.
std::optional<std::uint32_t> single_output(const Type& invocation);

// The value itself, or the single output of an invocation, or what a field of a region holds.
Term output_of(Body& body, const Term& value);
Term output_at(Body& body, const Term& invocation, std::uint32_t index, Span span);

// What can be done for `wanted` without looking at shapes.
Term adapt(Body& body, const Term& value, const Type& wanted);

// adapt, and where only the run can tell whether the extents are those of `wanted`, a guard on the result. For parts
// of lists and tuples that stand in the text: inside of one nothing would compare them.
Term adapt_part(Body& body, const Term& value, const Type& wanted);

// adapt, and then the types must agree: else an error is reported and the result is of type error.
Term convert(Body& body, const Term& value, const Type& wanted, const Expected& expected);

// The value when its type is known: E1004 for what is made of `[]` while nothing says what is in it.
Term typed(Body& body, const Term& value);

// Two lists are joined: one that holds tensors of any extent makes the other one such a list too.
void join_extents(Body& body, Term& left, Term& right);

// The type of a list of these, int and float together being float; nothing if there is none.
std::optional<Type> common_type(const Type& a, const Type& b);

}  // namespace taskspec::checking
