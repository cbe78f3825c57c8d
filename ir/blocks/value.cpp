#include "ir/blocks/value.hpp"

#include "ir/base/text.hpp"

namespace taskspec {

std::string BlockGraphValue::text() const {
  return "<ir " + graph->name + ": " + plural(graph->blocks.size(), "block") + ", " +
         plural(graph->edges.size(), "edge") + ">";
}

BlockMemory memory_of(const BlockGraph& graph) {
  constexpr std::int64_t header = 8;  // the number of steps
  BlockMemory memory{.bytes = header, .delays = {}, .blocks = {}, .held = {}};
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const BlockEdge& edge = graph.edges[i];
    if (edge.delay == 0) continue;
    memory.delays.emplace_back(BlockEdgeId(i), memory.bytes);
    const ArrayType source = value_type(graph[edge.from.block]);
    const ArrayType carried{source.precision, edge.from.box.size.empty() ? source.extents : edge.from.box.size};
    memory.bytes += edge.delay * static_cast<std::int64_t>((carried.bytes() + 7) / 8 * 8);
  }
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const std::int64_t bytes = graph.blocks[i].def->memory ? graph.blocks[i].def->memory(graph.blocks[i]) : 0;
    if (bytes == 0) continue;
    memory.blocks.emplace_back(BlockId(i), memory.bytes);
    memory.bytes += (bytes + 7) / 8 * 8;
  }
  const std::vector<bool> held = held_blocks(graph);
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const TaskBlock& block = graph.blocks[i];
    if (!held[i] || (block.def->holds() && block.data)) continue;
    memory.held.emplace_back(BlockId(i), memory.bytes);
    const auto values =
        static_cast<std::int64_t>(value_type(block).bytes() * std::max<std::size_t>(1, block.out_clusters()));
    memory.bytes += (values + 7) / 8 * 8;
  }
  if (memory.bytes == header) memory.bytes = 0;
  return memory;
}

BlockCall call_of(const BlockGraph& graph) {
  BlockCall call{graph.inputs(), {}, graph.outputs(), {}, memory_of(graph).bytes};
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const BlockId id(i);
    const bool is_state = graph.is_state(id);
    if (is_state || (graph[id].data && !graph[id].data->valid())) call.given.push_back(id);
    if (is_state) call.written.push_back(id);
  }
  return call;
}

}  // namespace taskspec
