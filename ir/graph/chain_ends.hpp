// Why a chain goes no further, from what is around its last task: for chains of a whole graph and for those that grow.
// Internal to ir/graph/chains.cpp and ir/graph/growing_chains.cpp.
#pragma once
#include "ir/graph/chains.hpp"

namespace taskspec {

// Distinct tasks next to one, in order, the first few of them; and how many of these are so by futures.
struct Around {
  std::vector<NodeId> tasks;
  std::size_t by_future = 0;
};

// Tasks come in order; the first few are kept.
void append_new(std::vector<NodeId>& tasks, NodeId task);
Around together(const std::vector<NodeId>& futures, std::vector<NodeId> orders);

// By the sink rule of whole tasks. `observed`: the host receives an output of it.
ChainEnd last_end(const TaskGraph& graph, NodeId tail, const Around& next, bool observed);

}  // namespace taskspec
