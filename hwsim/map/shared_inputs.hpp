// Inputs of two pieces on one core that are the same: they can come once, and lie once.
//
//   same_input(graph, a.cluster, a.box, b.cluster, b.box)      the same values in the same layout, each step
#pragma once
#include "hwsim/map/pieces.hpp"

namespace taskspec {

// All of both comes from others, the same places with the same delays. States and data are no inputs.
bool same_input(const BlockGraph& graph, const NetCluster& a, const Box& box_a, const NetCluster& b, const Box& box_b);

// Does a piece read, by some cluster, the same as another one by that cluster (of its axon, or of its soma)?
bool reads_as_well(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const NetCluster& cluster,
                   const Box& box);

}  // namespace taskspec
