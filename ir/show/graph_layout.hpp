// The drawing of a task graph: how large the box of a task is, where its slots stand, and where everything goes.
// What the exported layout, the SVG and viewers agree on.
//
//   ┌──────────────┐
//   │ energy#0     │      a title, then a row per slot: inputs at the left, outputs at the right;
//   │ dev        e │      edges of futures lead from row to row, those of orders from title to title
//   │ mean         │
//   └──────────────┘
#pragma once
#include <cstddef>
#include <string>

#include "ir/graph/task_graph.hpp"
#include "ir/layout/layout.hpp"

namespace taskspec {

struct BoxStyle {
  static constexpr std::int32_t title = 24, row = 14, below = 4;  // heights
  static constexpr std::size_t most_rows = 16;                    // slots beyond share the last one
  static constexpr std::size_t longest_name = 48;                 // characters; longer ones are cut
};

Extent box_of(const TaskGraph& graph, NodeId node);
std::int32_t row_middle(std::size_t slot);  // from the top of the box
std::string shortened(std::string_view name, std::size_t characters = BoxStyle::longest_name);

LayoutGroups scopes_of(const TaskGraph& graph);  // the graph itself is no group

// Nodes by id, edges as graph.edges(), frames by scope.
Layout lay_out(const TaskGraph& graph);

}  // namespace taskspec
