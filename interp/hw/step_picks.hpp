// What only picks the slice of a time step, x[step] of an input for all steps, is done by the host: cores do not pick
// by data. The slice is an input of its own.
#pragma once
#include "ir/graph/op_list.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

// Row `number` of `data`, both inputs of the graph.
struct StepPick {
  std::size_t data = 0, number = 0;
  OpInstance call;
};

struct PickedList {
  OpList list;  // inputs as before, then one for each pick
  std::vector<StepPick> picks;
  std::vector<bool> is_left;  // by input: nobody reads it any more
};

PickedList with_picks(OpList list);
// The pick that a node is; none: it is none.
std::optional<std::size_t> pick_of(const TaskGraph& graph, NodeId node, const std::vector<StepPick>& picks);

}  // namespace taskspec
