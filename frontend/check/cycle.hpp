// A name is used above the statement that sets it: E3001 with the way around if its value needs that use, else
// E1006.
//
//   let a = f(b.y)
//   let b = f(a.y)      ->      E3001 cycle: f#0.y -> f#1.x -> f#1.y -> f#0.x
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// `scope` holds the statement that sets the name further down.
void report_used_before_set(Body& body, Scope& scope, const ast::Name& name);
// An output is read and no path has set it yet.
void report_output_before_set(Body& body, const ast::Name& name);

}  // namespace taskspec::checking
