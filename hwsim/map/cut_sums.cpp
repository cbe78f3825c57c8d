#include "hwsim/map/cut_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/mapper.hpp"
#include "hwsim/program/layout.hpp"
#include "ir/blocks/rewrites.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t input_line = 16, outputs_together = 32;  // r is cut at lines, weights lie in groups

// Of the banks with weights that lie side by side, the most.
std::int64_t weight_bytes(const Chip& chip) {
  std::int64_t most = 0, here = 0, end = -1;
  for (const ChipBank& bank : chip.banks) {
    if (!bank.holds(BankRole::weight)) continue;
    here = bank.base == end ? here + bank.end() - bank.base : bank.end() - bank.base;
    end = bank.end();
    most = std::max(most, here);
  }
  return most;
}

Array part_of_data(const Array& data, const Box& box) {
  Array part = Array::make({data.type().precision, box.size});
  const std::vector<std::int32_t> places = places_in(data.extents(), box);
  for (std::size_t i = 0; i < places.size(); ++i)
    part.set_integer(static_cast<std::int64_t>(i), data.integer(places[i]));
  return part;
}

std::int64_t lines_of(const TaskBlock& block) { return (block.shape.r + input_line - 1) / input_line; }

bool sums_over_r(const TaskBlock& block) {
  if (block.def->kind != BlockKind::axon || block.shape.r < 1) return false;
  const std::span<const BlockAxis> axes = block.def->rewrites->axes;
  return std::ranges::find(axes, BlockAxis::r) != axes.end();
}

// Of 32 outputs; 0: they come in packets.
std::int64_t group_bytes(const ChipNet& net, const NetWork& work) {
  const TaskBlock& block = (*net.graph)[work.block];
  for (std::size_t c = 0; c < work.in.size(); ++c) {
    if (block.in_cluster(c).name != "weight" || !work.in[c].is_data) continue;
    ArrayType type = work.in[c].type;
    type.extents[0] = std::min(type.extents[0], outputs_together);
    return layout_of(*(*net.graph)[work.in[c].holder].def, type).bytes;
  }
  return 0;
}

bool is_plain(const BlockEdge& edge) {
  return edge.moves.empty() && edge.delay == 0 && !edge.trigger &&
         (edge.to.box.size.empty() || edge.from.box == edge.to.box);
}

// Input and weights of a product lie in storages as they are, and the weights are known.
bool has_plain_operands(const BlockGraph& graph, BlockId id) {
  const std::vector<BlockEdgeId> in = graph.into(id, 0), weights = graph.into(id, 1);
  if (in.size() != 1 || weights.size() != 1) return false;
  const BlockEdge &input = graph.edges[in[0].index()], &weight = graph.edges[weights[0].index()];
  return graph[input.from.block].def->holds() && graph[weight.from.block].data && is_plain(input) && is_plain(weight);
}

class SumCutter {
 public:
  SumCutter(const ChipNet& net, const BlockTable& blocks)
      : sum_(blocks.find("CADD")), sums_(blocks.find("SI")), graph_(*net.graph) {}

  bool has_sum() const { return sum_ && sums_; }

  bool cut(BlockId id, std::int64_t count) {
    const TaskBlock block = graph_[id];
    const BlockId held = graph_.edges[graph_.into(id, 0)[0].index()].from.block,
                  data = graph_.edges[graph_.into(id, 1)[0].index()].from.block;
    const std::int64_t lines = lines_of(block);
    Extents sizes;
    for (std::int64_t i = 0, begin = 0; i < count; ++i) {
      const std::int64_t end = std::min(block.shape.r, (i + 1) * lines / count * input_line);
      sizes.push_back(end - begin);
      begin = end;
    }
    Result<std::vector<BlockPart>> parts = split(block, BlockAxis::r, sizes);
    if (!parts) return false;
    std::erase_if(graph_.edges,
                  [&](const BlockEdge& edge) { return edge.to.block == id && !edge.trigger && edge.to.cluster < 2; });
    bias_edges_ = graph_.edges.size();
    for (std::size_t i = 0; i < parts->size(); ++i) add_part(block, (*parts)[i], i, id, held, data);
    become_sum(id, block, static_cast<std::uint16_t>(count));
    return true;
  }

  std::shared_ptr<const BlockGraph> graph() && { return std::make_shared<const BlockGraph>(std::move(graph_)); }

 private:
  BlockId add(TaskBlock block) {
    block.number = -1;
    graph_.blocks.push_back(std::move(block));
    return BlockId(graph_.blocks.size() - 1);
  }
  void join(BlockId from, BlockId to, std::uint16_t cluster, Box from_box = {}) {
    BlockEdge edge;
    edge.from = {from, 0, from_box.size.empty() ? whole(value_type(graph_[from]).extents) : from_box};
    edge.to = {to, cluster, whole(edge.from.box.size)};
    graph_.edges.push_back(std::move(edge));
  }

  void add_part(const TaskBlock& block, const BlockPart& part, std::size_t i, BlockId sum, BlockId held, BlockId data) {
    TaskBlock made = part.block;
    made.name = fmt::format("{}.{}", block.name, i);
    made.bias = BiasKind::none;
    TaskBlock in = graph_[held];
    in.name = made.name + ".input";
    in.shape.r = made.shape.r;
    TaskBlock weights = graph_[data];
    weights.name = made.name + ".weight";
    weights.shape.r = made.shape.r;
    weights.data = part_of_data(*graph_[data].data, part.in[1]);
    TaskBlock sums;
    sums.def = sums_;
    sums.name = made.name + ".sums";
    sums.precision = block.precision;
    sums.shape = {.y = block.shape.y, .x = block.shape.x, .f = block.shape.f};
    const BlockId in_id = add(std::move(in)), weight_id = add(std::move(weights)), id = add(std::move(made));
    const BlockId sums_id = add(std::move(sums));
    join(held, in_id, 0, part.in[0]);
    join(in_id, id, 0);
    join(weight_id, id, 1);
    join(id, sums_id, 0);
    join(sums_id, sum, static_cast<std::uint16_t>(i));
  }

  void become_sum(BlockId id, const TaskBlock& block, std::uint16_t branches) {
    TaskBlock& sum = graph_.blocks[id.index()];
    sum.def = sum_;
    sum.branches = branches;
    // A bias that is one number is one of those that both have.
    std::erase_if(sum.attributes, [&](const BlockAttribute& own) { return !sum_->find_attribute(own.def->name); });
    sum.shape = {.y = block.shape.y, .x = block.shape.x, .f = block.shape.f};
    for (std::size_t e = 0; e < bias_edges_; ++e)  // the bias stands behind the branches
      if (BlockEdge& edge = graph_.edges[e]; edge.to.block == id && !edge.trigger) edge.to.cluster = branches;
  }

  const BlockDef *sum_, *sums_;  // CADD, and what holds what parts make
  BlockGraph graph_;
  std::size_t bias_edges_ = 0;  // edges before those of parts
};

}  // namespace

SumCuts sum_cuts(const ChipNet& net, const Chip& chip, std::int64_t cores, CutsWhen when) {
  const std::int64_t room = weight_bytes(chip) / 4 * 3;
  SumCuts cuts;
  std::vector<ChipUnit> units;
  for (std::size_t w = 0; w < net.works.size(); ++w) {
    const NetWork& work = net.works[w];
    const TaskBlock& block = (*net.graph)[work.block];
    if (!sums_over_r(block)) continue;
    const std::int64_t parts = std::min((group_bytes(net, work) + room - 1) / room, lines_of(block));
    if (parts < 2 || cut_fault(net, w, parts)) continue;
    if (when == CutsWhen::needed) {
      if (units.empty()) units = units_of(net);
      const auto unit = std::ranges::find(units, w, &ChipUnit::axon);
      const std::vector<UnitChoice> choices = choices_of(net, *unit, chip);
      if (std::ranges::any_of(choices, [&](const UnitChoice& c) { return c.cost.fits && c.grid.pieces() <= cores; }))
        continue;
    }
    cuts.push_back({work.block, parts});
  }
  std::ranges::sort(cuts, {}, [](const SumCut& cut) { return cut.block.index(); });
  return cuts;
}

std::optional<std::string> cut_fault(const ChipNet& net, std::size_t work, std::int64_t parts) {
  const TaskBlock& block = (*net.graph)[net.works[work].block];
  if (!sums_over_r(block)) return fmt::format("'{}' sums over nothing, and so is not cut along r", block.name);
  if (parts < 1 || parts > lines_of(block))
    return fmt::format("sums of '{}' are cut into 1 to {} parts along r, not {}: {} of it, in steps of {}", block.name,
                       lines_of(block), parts, block.shape.r, input_line);
  if (group_bytes(net, net.works[work]) == 0)
    return fmt::format("sums of '{}' are not cut along r: its weights are computed, and come in packets", block.name);
  if (!has_plain_operands(*net.graph, net.works[work].block))
    return fmt::format("sums of '{}' are not cut along r: an edge rearranges or delays what it reads", block.name);
  return std::nullopt;
}

Result<ChipNet> cut_sums(const ChipNet& net, const SumCuts& cuts, const BlockTable& blocks) {
  if (cuts.empty()) return net;
  SumCutter cutter(net, blocks);
  for (const SumCut& cut : cuts) {
    const std::size_t work = net.work_of(cut.block);
    std::optional<std::string> fault = cut_fault(net, work, cut.parts);
    if (!fault && (!cutter.has_sum() || !cutter.cut(cut.block, cut.parts)))
      fault = fmt::format("sums of '{}' are not cut along r", (*net.graph)[cut.block].name);
    if (!fault) continue;
    Diags diags;
    diags.error("E4049", (*net.graph)[cut.block].span, *std::move(fault));
    return diags;
  }
  return chip_net(std::move(cutter).graph());
}

}  // namespace taskspec
