// A task graph as it is drawn on a sheet: tasks, and its inputs and results as boxes, too, so that no word stands in
// the way of a line. Behind a box there is room for the types of what leaves it; lines begin at the box and run level
// past that.
//
//   Picture picture = picture_of(graph);
//   picture.nodes[0].x
#pragma once
#include <string>
#include <vector>

#include "ir/show/graph_layout.hpp"

namespace taskspec {

struct Picture {
  struct Pill {  // an input that is read, or a result that a task makes
    std::string text;
    LayoutBox box;
  };
  struct Line {  // from or to a pill
    std::uint32_t pill = 0;
    NodeId node;
    std::vector<PlanePoint> way;
  };
  std::vector<LayoutBox> nodes, frames;  // by node, by scope
  std::vector<Pill> inputs, results;
  std::vector<std::vector<PlanePoint>> edges;  // as graph.edges()
  std::vector<Line> from_inputs, to_results;
  std::vector<std::vector<std::string>> types;  // by node, by output: what stands behind its box; empty: nothing
  std::vector<std::string> orders;              // by node: "WAR", of the orders that begin there
  std::int32_t width = 0, height = 0;
};

Picture picture_of(const TaskGraph& graph);

}  // namespace taskspec
