// The slots of an agent: what kind they are of, their types, and the functions that make their first values.
//
//   weight w: f32[n] = normal()            layer hidden = [nn.Linear(4, n), nn.Linear(n, 2)]
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// All slots of an agent whose parameters are known.
void resolve_slots(World& world, AgentId agent);

// The type of a slot with the extents of the member that asks.
Type slot_type(Body& body, std::uint32_t index);

// `agent` is made at `span` for a slot of its own, or of one that it holds: E3001, with the way around.
bool holds_itself(World& world, AgentId agent, Span span);

}  // namespace taskspec::checking
