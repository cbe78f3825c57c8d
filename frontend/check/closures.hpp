// Functions without a name: `x => x * k`, and ops or builtins given where a function is wanted. Their parameter
// types come from the place that takes them.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// A closure, or the name of an op or builtin: it has no type of its own.
bool is_untyped_function(Body& body, const ast::Expr& expr);

// Of `cyclic` or `owner(2)`, shardings, which have one type wherever they stand; none: it is something else.
std::optional<Type> sharding_type(Body& body, const ast::Expr& expr);

// The function for these parameter types. `result` is what the place wants to get, if it says so.
Term function_value(Body& body, const ast::Expr& expr, const std::vector<Type>& parameters,
                    const Type* result = nullptr);

// `point => items`, whose value has `rank` parts: the colour of a point of a launch.
Term function_of_point(Body& body, const ast::Pattern& point, const Type& parameter,
                       const std::vector<const ast::Expr*>& items, std::size_t rank, Span span);

// What a function value gives for arguments of these types; E1004 when it does not take them.
Type result_when_called(Body& body, const Term& function, const std::vector<Type>& arguments);

}  // namespace taskspec::checking
