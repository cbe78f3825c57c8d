#include "hwsim/map/cut_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

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

class SumCutter {
 public:
  SumCutter(const ChipNet& net, const Chip& chip, const BlockTable& blocks)
      : net_(net),
        room_(weight_bytes(chip) / 4 * 3),
        sum_(blocks.find("CADD")),
        sums_(blocks.find("SI")),
        graph_(*net.graph) {}

  // Into how many parts; 1: it stays.
  std::int64_t parts_of(const NetWork& work) const {
    const TaskBlock& block = (*net_.graph)[work.block];
    if (block.def->kind != BlockKind::axon || block.shape.r <= input_line || !sum_) return 1;
    const std::span<const BlockAxis> axes = block.def->rewrites->axes;
    if (std::ranges::find(axes, BlockAxis::r) == axes.end()) return 1;
    for (std::size_t c = 0; c < work.in.size(); ++c) {
      if (block.in_cluster(c).name != "weight" || !work.in[c].is_data(*net_.graph)) continue;
      ArrayType type = work.in[c].type;
      type.extents[0] = std::min(type.extents[0], outputs_together);
      const std::int64_t bytes = layout_of(*(*net_.graph)[work.in[c].holder].def, type).bytes;
      const std::int64_t lines = (block.shape.r + input_line - 1) / input_line;
      return std::min((bytes + room_ - 1) / room_, lines);
    }
    return 1;
  }

  bool cut(const NetWork& work, std::int64_t count) {
    const TaskBlock block = graph_[work.block];
    const std::vector<BlockEdgeId> in = graph_.into(work.block, 0), weights = graph_.into(work.block, 1);
    if (in.size() != 1 || weights.size() != 1) return false;
    const BlockEdge input = graph_.edges[in[0].index()], weight = graph_.edges[weights[0].index()];
    const BlockId held = input.from.block, data = weight.from.block;
    if (!graph_[held].def->holds() || !graph_[data].data || !is_plain(input) || !is_plain(weight)) return false;
    const std::int64_t lines = (block.shape.r + input_line - 1) / input_line;
    Extents sizes;
    for (std::int64_t i = 0, begin = 0; i < count; ++i) {
      const std::int64_t end = std::min(block.shape.r, (i + 1) * lines / count * input_line);
      sizes.push_back(end - begin);
      begin = end;
    }
    Result<std::vector<BlockPart>> parts = split(block, BlockAxis::r, sizes);
    if (!parts) return false;
    std::erase_if(graph_.edges, [&](const BlockEdge& edge) {
      return edge.to.block == work.block && !edge.trigger && edge.to.cluster < 2;
    });
    bias_edges_ = graph_.edges.size();
    for (std::size_t i = 0; i < parts->size(); ++i) add_part(block, (*parts)[i], i, work.block, held, data);
    become_sum(work.block, block, static_cast<std::uint16_t>(count));
    return true;
  }

  std::shared_ptr<const BlockGraph> graph() && { return std::make_shared<const BlockGraph>(std::move(graph_)); }

 private:
  static bool is_plain(const BlockEdge& edge) {
    return edge.moves.empty() && edge.delay == 0 && !edge.trigger &&
           (edge.to.box.size.empty() || edge.from.box == edge.to.box);
  }

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
    sum.attributes.clear();
    sum.shape = {.y = block.shape.y, .x = block.shape.x, .f = block.shape.f};
    for (std::size_t e = 0; e < bias_edges_; ++e)  // the bias stands behind the branches
      if (BlockEdge& edge = graph_.edges[e]; edge.to.block == id && !edge.trigger) edge.to.cluster = branches;
  }

  const ChipNet& net_;
  const std::int64_t room_;
  const BlockDef *sum_, *sums_;  // CADD, and what holds what parts make
  BlockGraph graph_;
  std::size_t bias_edges_ = 0;  // edges before those of parts
};

}  // namespace

Result<ChipNet> cut_sums(const ChipNet& net, const Chip& chip, const BlockTable& blocks) {
  SumCutter cutter(net, chip, blocks);
  bool is_cut = false;
  for (const NetWork& work : net.works)
    if (const std::int64_t parts = cutter.parts_of(work); parts > 1) is_cut |= cutter.cut(work, parts);
  if (!is_cut) return net;
  return chip_net(std::move(cutter).graph());
}

}  // namespace taskspec
