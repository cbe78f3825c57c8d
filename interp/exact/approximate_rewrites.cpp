// What an approximate group allows. A rewrite changes attributes, precisions and data of blocks that are there; which
// of them save anything, and what they cost in accuracy, is measured by approximate.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "interp/exact/approximate.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

namespace {

// The only block that fills a cluster, whole and as it is.
std::optional<BlockId> only_source(const BlockGraph& graph, BlockId block, std::string_view cluster) {
  const std::optional<std::size_t> position = graph[block].in_cluster_named(cluster);
  if (!position) return std::nullopt;
  const std::vector<BlockEdgeId> edges = graph.into(block, *position);
  if (edges.size() != 1) return std::nullopt;
  const BlockEdge& edge = graph.edges[edges[0].index()];
  const bool is_plain = edge.moves.empty() && edge.delay == 0;
  return is_plain ? std::optional(edge.from.block) : std::nullopt;
}

bool has_data(const TaskBlock& block) { return block.data && block.data->valid(); }
bool is_read_once(const BlockGraph& graph, BlockId block) { return graph.out_of(block).size() == 1; }

void set_attribute_of(TaskBlock& block, std::string_view attribute, std::int64_t value) {
  block.set(*block.def->find_attribute(attribute), value);
}

// ---- tables: four bits of the address less, entries from the middle of what they stand for ------------

std::optional<BlockGraph> narrow_table(const BlockGraph& graph, BlockId block, std::string& what) {
  const TaskBlock& look_up = graph[block];
  if (!look_up.def->find_attribute("lut_dw") || look_up.attribute("lut_dw") <= 4) return std::nullopt;
  const std::optional<BlockId> table = only_source(graph, block, "table");
  if (!table || !has_data(graph[*table]) || !is_read_once(graph, *table)) return std::nullopt;
  const std::int64_t bits = look_up.attribute("lut_dw"), entries = std::int64_t{1} << (bits - 4);
  const Array& from = *graph[*table].data;
  Array to = Array::make({from.precision(), {entries}});
  for (std::int64_t i = 0; i < entries; ++i) {
    const std::int64_t address = i < entries / 2 ? i : i - entries;
    const std::int64_t middle = address * 16 + 8;
    to.set_integer(i, from.integer(middle < 0 ? middle + 16 * entries : middle));
  }
  BlockGraph made = graph;
  made.blocks[table->index()].shape.f = entries;
  made.blocks[table->index()].data = std::move(to);
  // Bytes with a table of eight bits are addresses as they are, whatever the shift says.
  const auto data = only_source(graph, block, "input");
  const bool is_direct = bits == 8 && data && graph[*data].precision == Precision::i8;
  set_attribute_of(made.blocks[block.index()], "shift", (is_direct ? 0 : look_up.attribute("shift")) + 4);
  set_attribute_of(made.blocks[block.index()], "lut_dw", bits - 4);
  for (BlockEdge& edge : made.edges)
    if (edge.from.block == *table) edge.from.box = edge.to.box = whole({entries});
  what = fmt::format("table of '{}': {} -> {} bits", look_up.name, bits, bits - 4);
  return made;
}

// ---- weights of two bits, and the cut behind them shorter by as much as they lose ----------------------

std::int64_t rounded_shift(std::int64_t value, std::int64_t bits) {
  return bits == 0 ? value : (value + (std::int64_t{1} << (bits - 1))) >> bits;
}

// Of what a block computes: the blocks that cut it, behind the storage that holds it; none if anybody else reads it.
std::vector<BlockId> cuts_behind(const BlockGraph& graph, BlockId block) {
  std::vector<BlockId> cuts;
  for (const BlockEdgeId out : graph.out_of(block)) {
    const BlockId held = graph.edges[out.index()].to.block;
    if (!graph[held].def->holds()) return {};
    for (const BlockEdgeId next : graph.out_of(held)) {
      const BlockId cut = graph.edges[next.index()].to.block;
      const bool shifts = graph[cut].def->find_attribute("shift") && graph[cut].def->find_attribute("cmp") &&
                          info(graph[cut].precision).bytes == 1;
      if (!shifts) return {};
      cuts.push_back(cut);
    }
  }
  return cuts;
}

void shift_data(TaskBlock& block, std::int64_t bits, Precision precision) {
  const Array from = *block.data;
  Array to = Array::make({precision, from.type().extents});
  for (std::int64_t i = 0; i < from.elements(); ++i) to.set_integer(i, rounded_shift(from.integer(i), bits));
  block.precision = precision;
  block.data = std::move(to);
}

std::optional<BlockGraph> shorter_cut(const BlockGraph& graph, BlockId block, std::string& what) {
  if (!graph[block].def->cost || graph[block].def->kind != BlockKind::axon) return std::nullopt;
  const std::optional<BlockId> weight = only_source(graph, block, "weight");
  if (!weight || !has_data(graph[*weight]) || graph[*weight].precision == Precision::tern) return std::nullopt;
  if (!is_read_once(graph, *weight)) return std::nullopt;
  const ValueRange range =
      range_of(graph[*weight].precision, graph[*weight].data->raw(), graph[*weight].data->elements());
  std::int64_t bits = 0;
  while (rounded_shift(range.most, bits) > 1 || rounded_shift(range.least, bits) < -1) bits += 2;
  const std::vector<BlockId> cuts = cuts_behind(graph, block);
  for (const BlockId cut : cuts)
    if (graph[cut].attribute("shift") < bits) return std::nullopt;
  if (bits > 0 && cuts.empty()) return std::nullopt;
  const std::optional<BlockId> bias = only_source(graph, block, "bias");
  const bool has_bias = graph[block].bias == BiasKind::vector;
  if (bits > 0 && has_bias && (!bias || !has_data(graph[*bias]) || !is_read_once(graph, *bias))) return std::nullopt;
  if (bits > 0 && graph[block].bias == BiasKind::constant) return std::nullopt;
  BlockGraph made = graph;
  shift_data(made.blocks[weight->index()], bits, Precision::tern);
  if (bits > 0 && has_bias) shift_data(made.blocks[bias->index()], bits, Precision::i32);
  for (const BlockId cut : cuts)
    set_attribute_of(made.blocks[cut.index()], "shift", graph[cut].attribute("shift") - bits);
  what = fmt::format("weights of '{}': two bits each, the cut behind them {} bits shorter", graph[block].name, bits);
  return made;
}

// ---- values of two bits ---------------------------------------------------------------------------------

// Of a soma block and the storages that hold what it makes. Spikes lose nothing.
std::optional<BlockGraph> two_bits(const BlockGraph& graph, BlockId block, std::string& what) {
  const TaskBlock& from = graph[block];
  if (from.def->kind != BlockKind::soma || from.precision != Precision::i8) return std::nullopt;
  BlockGraph made = graph;
  TaskBlock& to = made.blocks[block.index()];
  to.precision = Precision::tern;
  if (from.def->find_attribute("fire_type")) {
    if (from.attribute("fire_type") != 4) return std::nullopt;
    set_attribute_of(to, "fire_type", 5);
  }
  std::vector<BlockId> open{block};
  while (!open.empty()) {
    const BlockId at = open.back();
    open.pop_back();
    for (const BlockEdge& edge : graph.edges) {
      if (edge.from.block != at || edge.trigger || graph[edge.to.block].def->computes()) continue;
      if (made.blocks[edge.to.block.index()].precision == Precision::tern) continue;
      made.blocks[edge.to.block.index()].precision = Precision::tern;
      open.push_back(edge.to.block);
    }
  }
  what = fmt::format("values of '{}': two bits each", from.name);
  return made;
}

constexpr ApproximateRewrite rewrites[] = {{"table", narrow_table}, {"cut", shorter_cut}, {"precision", two_bits}};

}  // namespace

std::span<const ApproximateRewrite> approximate_rewrites() { return rewrites; }

}  // namespace taskspec
