#include "ir/blocks/reverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/base/text.hpp"
#include "ir/blocks/pack.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

// ---- what records append to -------------------------------------------------------------------------

ReverseMaker::ReverseMaker(BlockGraph& graph, const BlockTable& table, const BlockReverseOptions& options,
                           BlockId block, BlockId upstream)
    : graph_(graph), table_(table), options_(options), block_(block), upstream_(upstream) {
  given_.resize(graph[block].in_clusters());
}

BlockId ReverseMaker::add(std::string_view kind, const BlockShape& shape,
                          std::vector<std::pair<std::string_view, std::int64_t>> attributes) {
  TaskBlock made;
  made.def = table_.find(kind);
  made.name = fmt::format("{}_r{}", graph_[block_].name, graph_.blocks.size());
  made.precision = Precision::f32;
  made.shape = shape;
  for (const auto& [name, value] : attributes) made.set(*made.def->find_attribute(name), value);
  made.span = graph_[block_].span;
  graph_.blocks.push_back(std::move(made));
  return BlockId(graph_.blocks.size() - 1);
}

BlockEdge& ReverseMaker::edge(BlockId from, BlockId to, std::string_view cluster,
                              std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> moves) {
  TaskBlock& target = graph_.blocks[to.index()];
  const std::size_t position = target.in_cluster_named(cluster).value();
  if (cluster == "bias") target.bias = BiasKind::vector;
  if (target.def->in[0].repeated && cluster.starts_with(target.def->in[0].name))
    target.branches = std::max(target.branches, static_cast<std::uint16_t>(position + 1));
  BlockEdge made;
  made.from = {from, 0, whole(value_type(graph_[from]).extents)};
  made.to = {to, static_cast<std::uint16_t>(*target.in_cluster_named(cluster)), {}};
  made.to.box = whole(cluster_extents(target, target.in_cluster(made.to.cluster)));
  for (auto& [name, numbers] : moves) made.moves.push_back({rearrangement_named(name), std::move(numbers)});
  made.span = target.span;
  graph_.edges.push_back(std::move(made));
  return graph_.edges.back();
}

BlockId ReverseMaker::contents(std::size_t cluster, std::string_view kind, const BlockShape& shape) {
  const BlockId made = add(kind, shape);
  const Extents extents = cluster_extents(block(), block().in_cluster(cluster));
  const bool is_same = value_type(graph_[made]).extents == extents;
  // Of other extents: as they are, then seen as those.
  const BlockId as_is = is_same ? made : add("SB", {.f = places_of(extents)});
  for (const BlockEdgeId id : graph_.into(block_, cluster)) {
    BlockEdge copy = graph_.edges[id.index()];
    if (!is_same && graph_.into(block_, cluster).size() > 1) bug("contents of several edges, seen as other extents");
    copy.to.block = as_is;
    copy.to.cluster = 0;
    if (!is_same) {
      copy.moves.push_back({&rearrange_reshape, {}});
      copy.to.box = whole({places_of(extents)});
    }
    graph_.edges.push_back(std::move(copy));
  }
  if (!is_same) edge(as_is, made, "input", {{rearrange_reshape.name, {}}});
  return made;
}

BlockId ReverseMaker::output(std::string_view kind, const BlockShape& shape) {
  const BlockId made = add(kind, shape);
  edge(block_, made, "input");
  return made;
}

BlockId ReverseMaker::kept(BlockId computed, std::string_view kind) {
  const BlockShape& shape = graph_[computed].shape;
  const BlockId made = add(kind, {.y = shape.y, .x = shape.x, .f = shape.f});
  edge(computed, made, "input");
  return made;
}

BlockId ReverseMaker::constant(std::int64_t f, double value) {
  const BlockId made = add("SB", {.f = f});
  Array data = Array::make({Precision::f32, {f}});
  std::fill_n(reinterpret_cast<float*>(data.raw()), f, static_cast<float>(value));
  graph_.blocks[made.index()].data = std::move(data);
  return made;
}

// ---- the graph --------------------------------------------------------------------------------------

namespace {

class BlockReverser {
 public:
  BlockReverser(const BlockGraph& graph, const BlockTable& table, const BlockReverseOptions& options)
      : forward_(graph), table_(table), options_(options), grads_(graph.blocks.size()) {}

  Result<BlockReversed> make() {
    choose_wanted();
    check();
    if (diags_.has_errors()) return diags_;
    Result<std::vector<BlockId>> order = forward_.order();
    if (!order) return order.diags();
    copy_forward();
    for (const BlockId output : forward_.outputs()) add_upstream(output);
    for (std::size_t k = order->size(); k-- > 0;) reverse_block((*order)[k]);
    if (diags_.has_errors()) return diags_;
    for (const BlockId wanted : wanted_) add_output(wanted);
    name_inputs();
    return std::move(made_);
  }

 private:
  BlockGraph& graph() { return made_.graph; }
  void refuse(const TaskBlock& block, const std::string& why) {
    diags_.error("E4035", block.span, fmt::format("{} '{}' has no reverse: {}", block.def->name, block.name, why));
  }

  // ---- what is asked for, and what it takes ----
  void choose_wanted() {
    const std::vector<BlockId> inputs = forward_.inputs();
    for (std::size_t b = 0; b < forward_.blocks.size(); ++b) {
      const TaskBlock& block = forward_.blocks[b];
      const bool is_input = std::ranges::find(inputs, BlockId(b)) != inputs.end();
      const bool is_data = block.def->kind == BlockKind::data && forward_.into(BlockId(b), 0).empty();
      const bool is_state = forward_.is_state(BlockId(b));
      const bool is_named = std::ranges::find(options_.wanted, block.name) != options_.wanted.end();
      if (options_.wanted.empty() ? is_input || is_data || is_state : is_named) wanted_.push_back(BlockId(b));
    }
    for (const std::string& name : options_.wanted)
      if (std::ranges::find(forward_.blocks, name, &TaskBlock::name) == forward_.blocks.end())
        diags_.error("E1001", Span(), fmt::format("unknown block '{}'", name));
    // On a way from a wanted one.
    needed_.assign(forward_.blocks.size(), false);
    for (const BlockId id : wanted_) needed_[id.index()] = true;
    for (bool grows = true; grows;) {
      grows = false;
      for (const BlockEdge& edge : forward_.edges)
        if (needed_[edge.from.block.index()] && !needed_[edge.to.block.index()])
          needed_[edge.to.block.index()] = grows = true;
    }
  }

  void check() {
    for (const BlockEdge& edge : forward_.edges)
      if (edge.delay > 0 || edge.trigger)
        diags_.error("E4035", edge.span,
                     fmt::format("the edge {} -> {} has no reverse: {}", forward_[edge.from.block].name,
                                 forward_[edge.to.block].name,
                                 edge.trigger ? "a trigger decides by what comes" : "unroll what is delayed first"));
    for (std::size_t b = 0; b < forward_.blocks.size(); ++b) {
      const TaskBlock& block = forward_.blocks[b];
      if (needed_[b] && block.def->computes() && !block.def->reverse->make)
        refuse(block, std::string(block.def->reverse->why_not));
    }
  }

  // ---- the values of the graph ----
  void copy_forward() {
    graph().name = forward_.name + "_reverse";
    graph().blocks = forward_.blocks;
    graph().edges = forward_.edges;
    for (std::size_t b = 0; b < graph().blocks.size(); ++b) {
      TaskBlock& block = graph().blocks[b];
      // Only gradients go outside.
      if (block.def->kind == BlockKind::output) block.def = table_.find("SI");
      if (forward_.is_state(BlockId(b))) block.data.reset();
      const BlockReverse* record = block.def->reverse;
      if (record && record->as_real) record->as_real(block, input_precision(BlockId(b)));
      if (options_.fake_quant) continue;
      block.precision = Precision::f32;
      if (block.data && block.data->valid()) block.data = converted(*block.data, Precision::f32);
    }
  }

  Precision input_precision(BlockId block) const {
    for (const BlockEdge& edge : forward_.edges)
      if (edge.to.block == block && edge.to.cluster == 0) return forward_[edge.from.block].precision;
    return forward_[block].precision;
  }

  // ---- gradients ----
  BlockId add(std::string_view kind, const BlockShape& shape, std::string name) {
    TaskBlock made;
    made.def = table_.find(kind);
    made.name = std::move(name);
    made.precision = Precision::f32;
    made.shape = shape;
    graph().blocks.push_back(std::move(made));
    return BlockId(graph().blocks.size() - 1);
  }
  std::string fresh(const TaskBlock& of) { return fmt::format("{}_r{}", of.name, graph().blocks.size()); }

  void connect(BlockPort from, BlockPort to, std::vector<Rearrangement> moves) {
    BlockEdge edge;
    edge.from = std::move(from);
    edge.to = std::move(to);
    edge.moves = std::move(moves);
    graph().edges.push_back(std::move(edge));
  }
  void connect_all(BlockId from, BlockId to, std::size_t cluster, bool reshapes) {
    const TaskBlock& target = graph()[to];
    connect({from, 0, whole(value_type(graph()[from]).extents)},
            {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(target, target.in_cluster(cluster)))},
            reshapes ? std::vector<Rearrangement>{{&rearrange_reshape, {}}} : std::vector<Rearrangement>());
  }

  // Storage of the extents of a block's values.
  BlockId storage_of(const TaskBlock& of) {
    const bool holds = of.def->holds();
    const BlockShape plane{.y = of.shape.y, .x = of.shape.x, .f = of.shape.f};
    return add(holds ? of.def->name : "SI", holds ? of.shape : plane, fresh(of));
  }

  void add_upstream(BlockId output) {
    const TaskBlock block = forward_[output];
    const BlockId in = add("INPUT", block.shape, "d_" + block.name), held = add("SI", block.shape, fresh(block));
    connect_all(in, held, 0, false);
    grads_[output.index()].push_back(held);
  }

  // Zeros where no edge brings anything: around a part, slab by slab.
  void fill_around(BlockId target, const Box& part) {
    const TaskBlock like = graph()[target];
    const Extents extents = value_type(like).extents;
    if (part == whole(extents)) return;
    const BlockId zeros = storage_of(like);
    graph().blocks[zeros.index()].data = Array::make(value_type(like));
    Box rest = whole(extents);
    for (std::size_t k = 0; k < extents.size(); ++k) {
      const std::int64_t begin = part.position[k], end = begin + part.size[k];
      for (const auto& [from, to] : {std::pair{rest.position[k], begin}, std::pair{end, extents[k]}}) {
        if (from >= to) continue;
        Box slab = rest;
        slab.position[k] = from;
        slab.size[k] = to - from;
        connect({zeros, 0, slab}, {target, 0, slab}, {});
      }
      rest.position[k] = begin;
      rest.size[k] = part.size[k];
    }
  }

  // What an edge of the forward graph takes back to its source, from the gradient of its target's cluster.
  void take_back(const BlockEdge& edge, BlockId gradient) {
    const TaskBlock source = forward_[edge.from.block];
    const std::optional<std::vector<Rearrangement>> back = transposed(edge.moves, edge.from.box.size, edge.to.box.size);
    if (!back) {
      diags_.error("E4035", edge.span,
                   fmt::format("the edge {} -> {} has no reverse: of its rearrangements one has no way back",
                               source.name, forward_[edge.to.block].name));
      return;
    }
    const Extents extents = value_type(source).extents;
    const BlockId whole_one = storage_of(source);
    // The gradient has the places of the cluster, perhaps under other names of axes, or flat.
    Box from = edge.to.box;
    const TaskBlock& target = forward_[edge.to.block];
    const Extents cluster = edge.to.cluster < target.in_clusters()
                                ? cluster_extents(target, target.in_cluster(edge.to.cluster))
                                : value_type(target).extents;
    if (value_type(graph()[gradient]).extents != cluster) gradient = reshaped(gradient, target, edge.to.cluster);
    connect({gradient, 0, std::move(from)}, {whole_one, 0, edge.from.box}, *back);
    fill_around(whole_one, edge.from.box);
    grads_[edge.from.block.index()].push_back(whole_one);
  }

  // As its cluster has it: the extents of the storage that feeds it say which kind that is.
  BlockId reshaped(BlockId gradient, const TaskBlock& target, std::size_t cluster) {
    const Extents extents = cluster_extents(target, target.in_cluster(cluster));
    BlockId made;
    if (extents.size() == 4)
      made = add("SW", {.f = extents[0], .r = extents[1], .ky = extents[2], .kx = extents[3]}, fresh(target));
    else if (extents.size() == 3)
      made = add("SI", {.y = extents[0], .x = extents[1], .f = extents[2]}, fresh(target));
    else if (extents.size() == 2)
      made = add("SWFC", {.f = extents[0], .r = extents[1]}, fresh(target));
    else
      made = add("SB", {.f = extents[0]}, fresh(target));
    connect_all(gradient, made, 0, true);
    return made;
  }

  // One storage with the sum of what came back; flat, since sums know no weights.
  std::optional<BlockId> total(BlockId id) {
    const std::vector<BlockId> parts = grads_[id.index()];
    if (parts.empty()) return std::nullopt;
    if (parts.size() == 1) return parts[0];
    const TaskBlock like = forward_[id];
    const std::int64_t count = value_type(like).elements();
    const BlockId sum = add("CADD", {.f = count}, fresh(like));
    graph().blocks[sum.index()].branches = static_cast<std::uint16_t>(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const BlockId flat = add("SI", {.f = count}, fresh(like));
      connect_all(parts[k], flat, 0, true);
      connect_all(flat, sum, k, false);
    }
    const BlockId made = add("SI", {.f = count}, fresh(like)), as_was = storage_of(like);
    connect_all(sum, made, 0, false);
    connect_all(made, as_was, 0, true);
    grads_[id.index()] = {as_was};
    return as_was;
  }

  void reverse_block(BlockId id) {
    if (!needed_[id.index()]) return;
    const std::optional<BlockId> gradient = total(id);
    const TaskBlock block = forward_[id];
    if (!block.def->computes()) {
      if (!gradient) return;
      for (const BlockEdge& edge : forward_.edges)
        if (edge.to.block == id && needed_[edge.from.block.index()]) take_back(edge, *gradient);
      return;
    }
    const std::optional<BlockId> next = next_of(id);
    if (!gradient && !next) return;
    BlockId upstream = gradient ? *gradient : zeros_like(block);
    ReverseMaker to(graph(), table_, options_, id, upstream);
    if (next) to.set_next(*next);
    if (const std::string why = block.def->reverse->make(to); !why.empty()) return refuse(block, why);
    for (const BlockEdge& edge : forward_.edges)
      if (edge.to.block == id && needed_[edge.from.block.index()])
        if (const std::optional<BlockId> given = to.given(edge.to.cluster)) take_back(edge, *given);
  }

  BlockId zeros_like(const TaskBlock& block) {
    const BlockId zeros = storage_of(block);
    graph().blocks[zeros.index()].data = Array::make(value_type(graph()[zeros]));
    return zeros;
  }

  // Of the state that a neuron leaves behind.
  std::optional<BlockId> next_of(BlockId id) {
    for (const BlockEdge& edge : forward_.edges) {
      if (edge.to.block != id || forward_[id].in_cluster(edge.to.cluster).name != "state") continue;
      const TaskBlock state = forward_[edge.from.block];
      const BlockId in = add("INPUT", state.shape, "next_" + state.name), held = add("SI", state.shape, fresh(state));
      connect_all(in, held, 0, false);
      return held;
    }
    return std::nullopt;
  }

  // ---- the ends ----
  void add_output(BlockId id) {
    const TaskBlock block = forward_[id];
    const Extents extents = value_type(block).extents;
    BlockShape shape{.f = places_of(extents)};
    if (block.shape.ky == 0 && block.shape.kx == 0 && (block.shape.f == 0 || block.shape.r == 0))
      shape = {.y = block.shape.y, .x = block.shape.x, .f = block.shape.f + block.shape.r};
    const std::optional<BlockId> gradient = total(id);
    const BlockId from = gradient ? *gradient : zeros_like(block);
    const BlockId out = add("OUTPUT", shape, "d_" + block.name);
    connect_all(from, out, 0, value_type(graph()[out]).extents != extents);
    made_.outputs.push_back("d_" + block.name);
  }

  void name_inputs() {
    for (std::size_t b = 0; b < graph().blocks.size(); ++b) {
      const TaskBlock& block = graph().blocks[b];
      const bool is_filled =
          std::ranges::any_of(graph().edges, [&](const BlockEdge& edge) { return edge.to.block == BlockId(b); });
      if ((block.def->holds() || block.def->kind == BlockKind::input) && !block.data && !is_filled)
        made_.inputs.push_back(block.name);
    }
  }

  const BlockGraph& forward_;
  const BlockTable& table_;
  const BlockReverseOptions& options_;
  BlockReversed made_;
  std::vector<BlockId> wanted_;
  std::vector<bool> needed_;
  std::vector<std::vector<BlockId>> grads_;  // by block of the forward graph: what came back, storage each
  Diags diags_;
};

}  // namespace

Result<BlockReversed> reverse(const BlockGraph& graph, const BlockTable& blocks, const BlockReverseOptions& options) {
  return BlockReverser(graph, blocks, options).make();
}

}  // namespace taskspec
