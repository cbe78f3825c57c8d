#include "ir/blocks/value.hpp"

#include "ir/base/text.hpp"

namespace taskspec {

std::string BlockGraphValue::text() const {
  return "<ir " + graph->name + ": " + plural(graph->blocks.size(), "block") + ", " +
         plural(graph->edges.size(), "edge") + ">";
}

BlockCallBlocks call_blocks(const BlockGraph& graph) {
  BlockCallBlocks call{graph.inputs(), {}, graph.outputs(), {}};
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const BlockId id(i);
    const bool is_state = graph.is_state(id);
    if (is_state || (graph[id].data && !graph[id].data->valid())) call.given.push_back(id);
    if (is_state) call.written.push_back(id);
  }
  return call;
}

}  // namespace taskspec
