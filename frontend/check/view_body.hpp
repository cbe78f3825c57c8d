// What the body of a task over views cannot have, refused in words before anything runs: it is made into the code that
// backends run, and what that says is told at its place.
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

// Of a function that is checked without an error; others are left alone.
void check_view_body(World& world, FunctionId task);

}  // namespace taskspec::checking
