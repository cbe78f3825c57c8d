// A graph written to a file in the form that its suffix names.
#pragma once
#include <string>

#include "interp/control/build_graph.hpp"

namespace taskspec {

// .json, .dot; E7003 for another suffix, E7004 when it cannot be written.
void export_graph(const Program& program, const GraphView& view, const std::string& path);

bool is_acyclic(const TaskGraph& graph);

}  // namespace taskspec
