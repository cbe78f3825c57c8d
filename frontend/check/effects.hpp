// What functions do, worked out over the whole program: host effects in tasks and graphs are errors (E1302), and
// the dropped result of a pure call is a warning.
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

void infer_effects(World& world);

// Parts of it, for programs without errors so far. `host`: by function, has effects on the host.
void refuse_host_functions(World& world, const std::vector<bool>& host);  // handed.cpp
void refuse_hidden_places(World& world);                                  // hidden_places.cpp
void refuse_agents_in_control(World& world);                              // graph_agents.cpp

}  // namespace taskspec::checking
