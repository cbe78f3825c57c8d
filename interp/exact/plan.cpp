#include "interp/exact/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/exact/fill.hpp"
#include "ir/blocks/check.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/pack.hpp"

namespace taskspec {

namespace {

bool holds_all_of(Precision wide, Precision narrow) {
  if (wide == narrow) return true;
  if (is_float(wide) || is_float(narrow)) return false;
  return info(wide).minimum <= info(narrow).minimum && info(wide).maximum >= info(narrow).maximum;
}

// From a whole array to a box of it.
IndexMap box_map(const Extents& extents, const Box& box) {
  Extents strides(extents.size());
  std::int64_t stride = 1, offset = 0;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    offset += box.position[i] * stride;
    stride *= extents[i];
  }
  return IndexMap::affine(extents, box.size, offset, strides);
}

class ExactPlanner {
 public:
  ExactPlanner(ExactPlan& plan, Diags& diags) : plan_(plan), graph_(*plan.graph), diags_(diags) {}

  void plan() {
    plan_.blocks.resize(graph_.blocks.size());
    edges_into_.resize(graph_.blocks.size());
    for (std::size_t i = 0; i < graph_.edges.size(); ++i)
      if (!graph_.edges[i].trigger) edges_into_[graph_.edges[i].to.block.index()].push_back(BlockEdgeId(i));
    for (BlockId id : plan_.order) {  // delayed edges may come from blocks behind
      ExactBlock& made = plan_.blocks[id.index()];
      made.block = &graph_[id];
      made.precision = made.block->precision;
      made.type = value_type(*made.block);
      made.range = is_float(made.precision) ? ValueRange{} : range_of(made.precision);
    }
    const std::vector<bool> held = held_blocks(graph_);
    for (std::size_t b = 0; b < held.size(); ++b) {
      plan_.blocks[b].is_held = held[b];
      plan_.is_controlled = plan_.is_controlled || held[b];
    }
    plan_triggered();
    for (BlockId id : plan_.order) plan_block(id);
    for (std::size_t i = 0; i < graph_.edges.size() && !diags_.has_errors(); ++i)
      if (graph_.edges[i].trigger) plan_trigger(BlockEdgeId(i));
    make_room();
  }

 private:
  // ---- triggers -----------------------------------------------------------------------------------
  // Who waits for which, in order of the edges.
  void plan_triggered() {
    std::size_t trigger = 0;
    for (const BlockEdge& edge : graph_.edges) {
      if (!edge.trigger) continue;
      for (const BlockId block : triggered_by(graph_, edge)) plan_.blocks[block.index()].triggers.push_back(trigger);
      ++trigger;
    }
  }

  void plan_trigger(BlockEdgeId id) {
    const BlockEdge& edge = graph_.edges[id.index()];
    ExactTrigger trigger;
    trigger.cluster.type = plan_.blocks[edge.from.block.index()].type;
    plan_feed(id, trigger.cluster);
    trigger.cluster.values = Array::make(trigger.cluster.type);
    plan_.triggers.push_back(std::move(trigger));
  }

  // ---- one block ----------------------------------------------------------------------------------
  void plan_block(BlockId id) {
    ExactBlock& made = plan_.blocks[id.index()];
    const TaskBlock& block = *made.block;
    check_block(block, plan_.options.mode, diags_);
    if (diags_.has_errors()) return;
    for (std::size_t c = 0; c < block.in_clusters(); ++c) made.in.push_back(plan_cluster(id, c));
    if (diags_.has_errors()) return;
    if (block.def->computes())
      plan_compute(id, made);
    else
      plan_storage(id, made);
    made.row.name = block.name;
    made.row.block = block.def->name;
    made.row.multiply_adds = multiply_adds(block);
    made.row.operations = operations(block);
    made.row.bytes = stored_bytes(block);
    made.is_steady = std::ranges::all_of(made.in, [&](const ExactCluster& cluster) {
      return std::ranges::all_of(cluster.feeds, [&](const ExactFeed& feed) {
        return feed.delay > 0 || plan_.blocks[feed.source.index()].is_steady;
      });
    });
    if (std::ranges::find(plan_.inputs, id) != plan_.inputs.end()) made.is_steady = false;
    made.gives.assign(std::max<std::size_t>(1, block.out_clusters()), 1);
    made.arrived.assign(made.in.size(), 1);
    made.wanted.assign(made.in.size(), 1);
    if (stored_form(block) == StoredForm::dense) return;
    made.row.nonzeros = made.is_fixed ? nonzeros_of(made.values) : 0;
    made.row.break_even = break_even_density(block);
    if (block.def->kind == BlockKind::data && block.data) made.row.parameters = made.type.elements();
  }

  // ---- clusters -----------------------------------------------------------------------------------
  ExactCluster plan_cluster(BlockId id, std::size_t position) {
    const TaskBlock& block = graph_[id];
    ExactCluster cluster;
    cluster.type.extents = cluster_extents(block, block.in_cluster(position));
    for (BlockEdgeId edge : edges_into_[id.index()])
      if (graph_.edges[edge.index()].to.cluster == position) plan_feed(edge, cluster);
    if (cluster.feeds.empty() || diags_.has_errors()) return cluster;
    cluster.type.precision = cluster.feeds[0].precision;
    for (const ExactFeed& feed : cluster.feeds)
      if (!holds_all_of(cluster.type.precision, feed.precision)) cluster.type.precision = wider(cluster, feed);
    find_range(cluster);
    return cluster;
  }

  static Precision wider(const ExactCluster& cluster, const ExactFeed& feed) {
    return holds_all_of(feed.precision, cluster.type.precision) ? feed.precision : Precision::i32;
  }

  void plan_feed(BlockEdgeId id, ExactCluster& cluster) {
    const BlockEdge& edge = graph_.edges[id.index()];
    const ExactBlock& source = plan_.blocks[edge.from.block.index()];
    const Extents& extents = source.type.extents;
    const Box from = edge.from.box.size.empty() ? whole(extents) : edge.from.box;
    ExactFeed feed;
    feed.edge = id;
    feed.source = edge.from.block;
    feed.port = edge.from.cluster;
    feed.offset = edge.from.cluster * source.type.bytes();
    feed.precision = source.precision;
    feed.part = edge.trigger || edge.to.box.size.empty() ? whole(cluster.type.extents) : edge.to.box;
    feed.is_whole = feed.part == whole(cluster.type.extents);
    feed.bytes = ArrayType{feed.precision, feed.part.size}.bytes();
    feed.delay = edge.delay;
    Result<IndexMap> moves = compose(edge.moves, from.size, feed.part.size, edge.span);
    if (!moves) return diags_.append(moves.diags());
    feed.map = edge.delay > 0 ? *moves : box_map(extents, from).then(*moves);
    if (edge.delay > 0) {
      feed.kept_map = box_map(extents, from);
      feed.first = Array::make({feed.precision, from.size});
      if (edge.initial) feed.first = converted(*edge.initial, feed.precision);
      for (std::int32_t i = 0; i < edge.delay; ++i) feed.kept.push_back(Array::make({feed.precision, from.size}));
    }
    cluster.feeds.push_back(std::move(feed));
  }

  void find_range(ExactCluster& cluster) {
    if (is_float(cluster.type.precision)) return;
    cluster.range = {INT64_MAX, INT64_MIN};
    auto include = [&](const ValueRange& range) {
      cluster.range.least = std::min(cluster.range.least, range.least);
      cluster.range.most = std::max(cluster.range.most, range.most);
    };
    for (const ExactFeed& feed : cluster.feeds) {
      include(feed.delay > 0 ? range_of(feed.precision) : plan_.blocks[feed.source.index()].range);
      if (!feed.map.is_affine()) include({0, 0});  // there may be holes
    }
  }

  // The source's bytes serve as they are: one edge, nothing moved, the same precision.
  // Not where the block may keep what its source has lost: with another trigger than the source's.
  const std::byte* alias_of(const ExactBlock& block, const ExactCluster& cluster, Precision wanted) const {
    if (cluster.feeds.size() != 1) return nullptr;
    if (!block.triggers.empty() && block.triggers != plan_.blocks[cluster.feeds[0].source.index()].triggers)
      return nullptr;
    const ExactFeed& feed = cluster.feeds[0];
    const bool is_same = feed.delay == 0 && feed.is_whole && feed.precision == wanted && feed.map.is_identity();
    const ExactBlock& source = plan_.blocks[feed.source.index()];
    const bool all_of_it = source.type.elements() == cluster.type.elements();
    return is_same && all_of_it && source.bytes ? source.bytes + feed.offset : nullptr;
  }

  // ---- storage, inputs and outputs ----------------------------------------------------------------
  void plan_storage(BlockId id, ExactBlock& made) {
    const TaskBlock& block = *made.block;
    const bool is_filled = !made.in.empty() && made.in[0].is_there();
    if (is_filled && plan_.options.mode == BlockMode::rabbit &&
        !holds_all_of(made.precision, made.in[0].type.precision))
      made.precision = made.in[0].type.precision;
    made.type.precision = made.precision;
    if (is_filled) {
      if (!is_float(made.precision) && !is_float(made.in[0].type.precision)) {
        const ValueRange own = range_of(made.precision), come = made.in[0].range;
        made.range = {std::clamp(come.least, own.least, own.most), std::clamp(come.most, own.least, own.most)};
      }
      made.bytes = alias_of(made, made.in[0], made.precision);
      if (made.bytes) return;
    }
    made.values = Array::make(made.type);
    made.bytes = made.values.raw();
    if (!block.data || is_filled) return;
    if (!graph_.is_state(id)) {
      made.is_fixed = true;
      made.values = block.data->precision() == made.precision ? *block.data : converted(*block.data, made.precision);
      made.bytes = made.values.raw();
      if (!is_float(made.precision) && made.values.elements() > 0)
        made.range = range_of(made.precision, made.bytes, made.values.elements());
    }
  }

  // ---- compute ------------------------------------------------------------------------------------
  void plan_compute(BlockId id, ExactBlock& made) {
    std::vector<BlockOperand> operands(made.in.size());
    made.in_bytes.assign(made.in.size(), nullptr);
    made.state_bytes.assign(made.in.size(), nullptr);
    for (std::size_t c = 0; c < made.in.size(); ++c) {
      ExactCluster& cluster = made.in[c];
      if (!cluster.is_there()) continue;
      cluster.alias = alias_of(made, cluster, cluster.type.precision);
      if (!cluster.alias) cluster.values = Array::make(cluster.type);
      made.in_bytes[c] = cluster.alias ? cluster.alias : cluster.values.raw();
      operands[c] = {
          .there = true, .type = cluster.type, .range = cluster.range, .fixed = nullptr, .sparse = is_sparse(cluster)};
      if (is_fixed(cluster)) operands[c].fixed = fixed_bytes(cluster);
      if (made.block->in_cluster(c).state) plan_state(id, c, cluster, made);
    }
    made.runner = made.block->def->numerics->prepare(*made.block, operands, plan_.options.mode);
    made.range = made.runner->range();
    made.row.reason = made.runner->reason();
    made.values = Array::make(stacked(made));
    made.bytes = made.values.raw();
  }

  // Outputs, one after the other.
  static ArrayType stacked(const ExactBlock& made) {
    ArrayType type = made.type;
    if (const std::size_t outputs = made.block->out_clusters(); outputs > 1)
      type.extents.insert(type.extents.begin(), static_cast<std::int64_t>(outputs));
    return type;
  }

  bool is_sparse(const ExactCluster& cluster) const {
    return cluster.feeds.size() == 1 &&
           stored_form(*plan_.blocks[cluster.feeds[0].source.index()].block) != StoredForm::dense;
  }

  bool is_fixed(const ExactCluster& cluster) const {
    return std::all_of(cluster.feeds.begin(), cluster.feeds.end(), [&](const ExactFeed& feed) {
      return feed.delay == 0 && plan_.blocks[feed.source.index()].is_fixed;
    });
  }
  // What never changes is put into its place now.
  const std::byte* fixed_bytes(ExactCluster& cluster) {
    if (cluster.alias) return cluster.alias;
    fill_exactly(plan_, cluster, 0);
    cluster.is_done = true;
    return cluster.values.raw();
  }

  void plan_state(BlockId id, std::size_t position, const ExactCluster& cluster, ExactBlock& made) {
    const ExactFeed& feed = cluster.feeds[0];
    const bool goes_back = cluster.feeds.size() == 1 && feed.delay == 0 && feed.map.is_bijection();
    if (!goes_back) {
      diags_.error("E4004", graph_[id].span,
                   fmt::format("'{}' of {} '{}' is no storage as a whole: its new contents have no place",
                               graph_[id].in_cluster_name(position), graph_[id].def->name, graph_[id].name));
      return;
    }
    made.states.push_back(
        {.cluster = position, .storage = feed.source, .made = Array::make(cluster.type), .back = feed.map.inverse()});
    made.state_bytes[position] = made.states.back().made.raw();
  }

  // ---- room ---------------------------------------------------------------------------------------
  void make_room() {
    std::size_t most = 0, widest = 0;
    for (const ExactTrigger& trigger : plan_.triggers)
      for (const ExactFeed& feed : trigger.cluster.feeds) widest = std::max(widest, feed.bytes);
    for (const ExactBlock& block : plan_.blocks) {
      if (block.runner) most = std::max(most, block.runner->scratch_bytes());
      for (const ExactCluster& cluster : block.in)
        for (const ExactFeed& feed : cluster.feeds) widest = std::max(widest, feed.bytes);
    }
    plan_.room.resize(most + 64);
    const auto begin = reinterpret_cast<std::uintptr_t>(plan_.room.data());
    plan_.scratch = plan_.room.data() + (64 - begin % 64) % 64;
    plan_.gathered.resize(std::max(plan_.gathered.size(), widest));
  }

  ExactPlan& plan_;
  const BlockGraph& graph_;
  Diags& diags_;
  std::vector<std::vector<BlockEdgeId>> edges_into_;
};

}  // namespace

Result<ExactPlan> plan_exactly(std::shared_ptr<const BlockGraph> graph, const ExactOptions& options) {
  ExactPlan plan;
  plan.graph = std::move(graph);
  plan.options = options;
  Result<std::vector<BlockId>> order = plan.graph->order();
  if (!order) return order.diags();
  plan.order = *std::move(order);
  plan.inputs = plan.graph->inputs();
  plan.outputs = plan.graph->outputs();
  Diags diags;
  ExactPlanner(plan, diags).plan();
  if (diags.has_errors()) return diags;
  return plan;
}

}  // namespace taskspec
