// a >> b: one task, b after a. An output goes to the input of its name; if none matches and a has one output,
// to the first input of b.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

Term compose_expression(Body& body, const ast::Binary& binary, Span span);

}  // namespace taskspec::checking
