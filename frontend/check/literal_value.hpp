// A host value written as a literal: what `-D x=[1, 2.5]` gives to a graph input.
#pragma once
#include "frontend/ast.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// Numbers, also `pi inf nan`, signs, bools, strings and nested lists; anything else throws Error E1004 at its place.
Value literal_value(const ast::Expr& expression);

}  // namespace taskspec
