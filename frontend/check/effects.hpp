// What functions do, worked out over the whole program: host effects in tasks and graphs are errors (E1302), and
// the dropped result of a pure call is a warning.
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

void infer_effects(World& world);

}  // namespace taskspec::checking
