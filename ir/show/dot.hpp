// A taskGraph with its chains as Graphviz text: one cluster per chain, futures as solid edges from slot to slot,
// orders as dashed ones with their hazard.
//
//   write_text("pipeline.dot", to_dot(graph, chains));      // dot -Tsvg pipeline.dot
#pragma once
#include <string>

#include "ir/graph/chains.hpp"

namespace taskspec {

std::string to_dot(const TaskGraph& graph, const Chains& chains);

}  // namespace taskspec
