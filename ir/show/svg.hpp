// A taskGraph with its chains as one SVG picture: a coloured band per chain and beside it the rule that ended it,
// futures as lines from slot to slot, orders as dashed ones with their hazard. Light or dark as the reader's system is.
//
//   write_text("pipeline.svg", to_svg(graph, chains));
#pragma once
#include <string>

#include "ir/graph/chains.hpp"

namespace taskspec {

std::string to_svg(const TaskGraph& graph, const Chains& chains);

// Any bytes as text of XML and HTML, also inside quotes: no name can end what it stands in.
std::string xml_text(std::string_view text);

}  // namespace taskspec
