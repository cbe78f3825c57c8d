#include "interp/import/task_ir/from_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "interp/import/task_ir/graph_names.hpp"
#include "interp/import/task_ir/tensor.hpp"

namespace taskspec::task_ir {

namespace {

// Their own numbers, and the lowest free ones for the others.
std::vector<std::int32_t> numbered(const std::vector<std::int32_t>& given) {
  std::set<std::int32_t> taken;
  for (const std::int32_t number : given)
    if (number >= 0) taken.insert(number);
  std::vector<std::int32_t> numbers;
  std::int32_t next = 0;
  for (const std::int32_t number : given) {
    while (number < 0 && taken.contains(next)) ++next;
    numbers.push_back(number >= 0 ? number : next++);
  }
  return numbers;
}

class GraphWriter {
 public:
  explicit GraphWriter(const BlockGraph& graph) : graph_(graph) {
    std::vector<std::int32_t> blocks, edges;
    for (const TaskBlock& block : graph.blocks) blocks.push_back(block.number);
    for (const BlockEdge& edge : graph.edges) edges.push_back(edge.number);
    block_numbers_ = numbered(blocks);
    edge_numbers_ = numbered(edges);
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const BlockEdge& edge = graph.edges[e];
      into_[{edge.to.block.index(), edge.to.cluster}].push_back(e);
      out_of_[{edge.from.block.index(), edge.from.cluster}].push_back(e);
    }
  }

  tianjic_ir::TaskGraph write() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) block(b, *file_.add_blocks());
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) edge(e, *file_.add_edges());
    for (const BlockGroup& group : graph_.groups) {
      tianjic_ir::Group& to = *file_.add_groups();
      to.set_group_id(group.number);
      for (const BlockId id : group.blocks) to.add_block_ids(block_numbers_[id.index()]);
    }
    if (graph_.test) test(*graph_.test);
    return std::move(file_);
  }

 private:
  using Edges = std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>>;

  void block(std::size_t b, tianjic_ir::TaskBlock& to);
  void clusters(std::size_t b, tianjic_ir::TaskBlock& to);
  void cluster(const ClusterDef& def, const TaskBlock& block, const std::vector<std::size_t>& edges, bool is_input,
               tianjic_ir::EdgeCluster& to);
  void edge(std::size_t e, tianjic_ir::Edge& to);
  void test(const BlockTestConfig& test);

  const BlockGraph& graph_;
  std::vector<std::int32_t> block_numbers_, edge_numbers_;
  Edges into_, out_of_;  // by block and cluster
  tianjic_ir::TaskGraph file_;
};

void GraphWriter::block(std::size_t b, tianjic_ir::TaskBlock& to) {
  const TaskBlock& block = graph_.blocks[b];
  to.set_id(block_numbers_[b]);
  to.set_type(static_cast<tianjic_ir::TaskBlock::TaskBlockType>(block.def->number));
  to.set_precision(*number_of(block.precision));
  for (std::size_t k = 0; k < block_axes; ++k)
    set_extent(*to.mutable_shape(), static_cast<BlockAxis>(k), block.shape[static_cast<BlockAxis>(k)]);
  clusters(b, to);
  if (block.data) set_tensor(*to.mutable_data(), *block.data);
  for (const auto& [def, value] : block.attributes) {
    tianjic_ir::Attribute& attribute = *to.add_attributes();
    attribute.set_type(static_cast<tianjic_ir::Attribute::AttributeType>(def->number));
    attribute.set_precision(tianjic_ir::INT_32);
    attribute.set_int_value(static_cast<std::int32_t>(value));
  }
  if (block.is_virtual) to.set_is_virtual(*block.is_virtual);
  if (block.major_task) to.set_major_task_id(*block.major_task);
  if (block.pipeline) to.set_pipeline_num(*block.pipeline);
  if (block.bias != BiasKind::none) to.set_bias_type(static_cast<tianjic_ir::TaskBlock::BiasType>(block.bias));
  if (block.socket) to.set_socket_id(*block.socket);
}

void GraphWriter::clusters(std::size_t b, tianjic_ir::TaskBlock& to) {
  const TaskBlock& block = graph_.blocks[b];
  for (std::size_t c = 0; c < block.in_clusters(); ++c) {
    const ClusterDef& def = block.in_cluster(c);
    const auto edges = into_.find({b, c});
    const bool is_filled = edges != into_.end();
    const bool is_there = def.present ? def.present(block) : is_filled || !def.optional;
    if (!is_there && is_filled) bug("an edge to a cluster that its block has not");
    if (is_there)
      cluster(def, block, is_filled ? edges->second : std::vector<std::size_t>(), true, *to.add_input_clusters());
  }
  for (std::size_t c = 0; c < block.def->out.size(); ++c)
    if (const auto edges = out_of_.find({b, c}); edges != out_of_.end())
      cluster(block.def->out[c], block, edges->second, false, *to.add_output_clusters());
}

void GraphWriter::cluster(const ClusterDef& def, const TaskBlock& block, const std::vector<std::size_t>& edges,
                          bool is_input, tianjic_ir::EdgeCluster& to) {
  const Box all = whole(cluster_extents(block, def));
  const std::vector<BlockAxis> axes = axes_of(block, def);
  for (const std::size_t e : edges) {
    tianjic_ir::EdgeInterface& interface = *to.add_interfaces();
    const Box& box = is_input ? graph_.edges[e].to.box : graph_.edges[e].from.box;
    if (box.position != all.position)
      for (std::size_t k = 0; k < axes.size(); ++k) set_extent(*interface.mutable_position(), axes[k], box.position[k]);
    if (box != all)
      for (std::size_t k = 0; k < axes.size(); ++k) set_extent(*interface.mutable_size(), axes[k], box.size[k]);
    interface.set_edge_id(edge_numbers_[e]);
  }
}

void GraphWriter::edge(std::size_t e, tianjic_ir::Edge& to) {
  const BlockEdge& edge = graph_.edges[e];
  to.set_id(edge_numbers_[e]);
  to.set_src_block_id(block_numbers_[edge.from.block.index()]);
  to.set_dst_block_id(block_numbers_[edge.to.block.index()]);
  for (const Rearrangement& move : edge.moves) {
    tianjic_ir::RearrangeInfo& rearrange = *to.add_rearrange_info();
    rearrange.set_type(static_cast<tianjic_ir::RearrangeInfo::RearrangeType>(move.def->number));
    if (move.numbers.empty()) continue;
    tianjic_ir::Tensor& matrix = *rearrange.add_matrix();
    const auto count = static_cast<std::int32_t>(move.numbers.size());
    for (const std::int32_t rows : {2, 3})  // of a matrix that is one
      if (rearrange.type() == (rows == 2 ? tianjic_ir::RearrangeInfo::AFFINE : tianjic_ir::RearrangeInfo::PROJECT) &&
          count == 3 * rows)
        matrix.add_dims(rows), matrix.add_dims(3);
    if (matrix.dims().empty()) matrix.add_dims(count);
    matrix.set_precision(tianjic_ir::INT_32);
    for (const std::int64_t number : move.numbers) matrix.add_int32_data(static_cast<std::int32_t>(number));
  }
}

void GraphWriter::test(const BlockTestConfig& test) {
  tianjic_ir::TestConfig& to = *file_.mutable_test_config();
  if (test.random_seed) to.set_random_seed(*test.random_seed);
  if (test.name) to.set_test_case_name(*test.name);
  if (test.mode) to.set_test_mode(static_cast<tianjic_ir::TestConfig::TestMode>(*test.mode));
}

void check_block(const TaskBlock& block, Diags& diags) {
  auto refuse = [&](const std::string& what) {
    diags.error("E4008", block.span, fmt::format("block '{}': {}", block.name, what));
  };
  if (!tianjic_ir::TaskBlock::TaskBlockType_IsValid(block.def->number))
    refuse(fmt::format("{} is no block of Task IR files", block.def->name));
  if (!number_of(block.precision))
    refuse(fmt::format("Task IR files have no precision {}", info(block.precision).name));
  for (const auto& [def, value] : block.attributes)
    if (!tianjic_ir::Attribute::AttributeType_IsValid(def->number))
      refuse(fmt::format("Task IR files have no attribute {}", def->name));
}

}  // namespace

Diags check_sayable(const BlockGraph& graph) {
  Diags diags;
  for (const TaskBlock& block : graph.blocks) check_block(block, diags);
  for (const BlockEdge& edge : graph.edges) {
    const std::string who = fmt::format("edge {} -> {}: ", graph[edge.from.block].name, graph[edge.to.block].name);
    if (edge.delay != 0 || edge.initial) diags.error("E4008", edge.span, who + "Task IR files have no delays");
    if (edge.trigger) diags.error("E4008", edge.span, who + "Task IR files have no triggers");
  }
  for (const BlockGroup& group : graph.groups)
    if (group.approx)
      diags.error("E4008", group.blocks.empty() ? Span() : graph[group.blocks[0]].span,
                  fmt::format("group {}: Task IR files have no approximate groups", group.number));
  return diags;
}

tianjic_ir::TaskGraph from_graph(const BlockGraph& graph) { return GraphWriter(graph).write(); }

}  // namespace taskspec::task_ir
