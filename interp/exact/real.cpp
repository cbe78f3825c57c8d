#include "interp/exact/real.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/blocks/check.hpp"
#include "ir/blocks/pack.hpp"
#include "ir/blocks/reverse.hpp"

namespace taskspec {

namespace {

// Places of a box, row by row, in the whole.
std::vector<std::int64_t> places_in(const Extents& extents, const Box& box) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < places_of(box.size); ++i) {
    std::int64_t left = i, place = 0, stride = 1;
    for (std::size_t k = extents.size(); k-- > 0;) {
      place += (left % box.size[k] + box.position[k]) * stride;
      left /= box.size[k];
      stride *= extents[k];
    }
    places.push_back(place);
  }
  return places;
}

double in_precision(double value, Precision precision) {
  if (precision == Precision::f32) return static_cast<float>(value);
  if (is_float(precision)) return value;
  const PrecisionInfo& p = info(precision);
  return std::clamp(std::floor(value), static_cast<double>(p.minimum), static_cast<double>(p.maximum));
}

std::vector<double> reals_of(const Array& array) {
  const Array wide = converted(array, Precision::f64);
  const auto* from = reinterpret_cast<const double*>(wide.raw());
  return {from, from + wide.elements()};
}

}  // namespace

Result<RealEngine> RealEngine::make(std::shared_ptr<const BlockGraph> graph, const BlockTable& blocks) {
  Diags diags = check_blocks(*graph, blocks, BlockMode::real);
  for (const BlockEdge& edge : graph->edges)
    if (edge.delay > 0 || edge.trigger) diags.error("E4035", edge.span, "real numbers know no delays and no triggers");
  for (const TaskBlock& block : graph->blocks)
    if (block.def->computes() && !block.def->reverse->compute)
      diags.error("E4035", block.span,
                  fmt::format("{} '{}' does not compute in real numbers", block.def->name, block.name));
  if (diags.has_errors()) return diags;
  RealEngine engine;
  engine.order_ = graph->order().value_or_throw();
  engine.outputs_ = graph->outputs();
  engine.feeds_.resize(graph->blocks.size());
  for (const TaskBlock& block : graph->blocks)
    engine.values_.emplace_back(static_cast<std::size_t>(value_type(block).elements()));
  for (const BlockEdge& edge : graph->edges) {
    const TaskBlock& target = (*graph)[edge.to.block];
    const Extents source = value_type((*graph)[edge.from.block]).extents;
    const Extents cluster = cluster_extents(target, target.in_cluster(edge.to.cluster));
    Result<IndexMap> moves = compose(edge.moves, edge.from.box.size, edge.to.box.size, edge.span);
    if (!moves) return moves.diags();
    Feed feed{edge.from.block, edge.to.block, edge.to.cluster, {}, places_in(cluster, edge.to.box)};
    const std::vector<std::int64_t> from = places_in(source, edge.from.box);
    for (std::size_t i = 0; i < feed.to.size(); ++i) {
      const std::int64_t place = moves->place(static_cast<std::int64_t>(i));
      feed.from.push_back(place < 0 ? -1 : from[static_cast<std::size_t>(place)]);
    }
    engine.feeds_[edge.to.block.index()].push_back(std::move(feed));
  }
  for (std::size_t b = 0; b < graph->blocks.size(); ++b) {
    const TaskBlock& block = graph->blocks[b];
    if (block.data && block.data->valid())
      engine.values_[b] = reals_of(*block.data);
    else if (!block.def->computes() && engine.feeds_[b].empty())
      engine.inputs_.push_back(BlockId(b));
  }
  engine.graph_ = std::move(graph);
  return engine;
}

void RealEngine::run_block(BlockId id) {
  const TaskBlock& block = (*graph_)[id];
  const std::vector<Feed>& feeds = feeds_[id.index()];
  if (feeds.empty()) return;
  std::vector<std::vector<double>> in(block.in_clusters()), states(block.in_clusters());
  for (const Feed& feed : feeds) {
    const ClusterDef& def = block.in_cluster(feed.cluster);
    std::vector<double>& to = in[feed.cluster];
    to.resize(static_cast<std::size_t>(places_of(cluster_extents(block, def))));
    if (def.state) states[feed.cluster].resize(to.size());
    const std::vector<double>& source = values_[feed.source.index()];
    for (std::size_t i = 0; i < feed.to.size(); ++i)
      to[static_cast<std::size_t>(feed.to[i])] =
          feed.from[i] < 0 ? 0.0 : source[static_cast<std::size_t>(feed.from[i])];
  }
  std::vector<double>& out = values_[id.index()];
  if (block.def->computes())
    block.def->reverse->compute(block, {in, out, states});
  else
    out = in[0];
  for (double& value : out) value = in_precision(value, block.precision);
}

std::vector<Array> RealEngine::run(std::span<const Array> inputs) {
  if (inputs.size() != inputs_.size()) bug("a block graph was given another number of inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double>& values = values_[inputs_[i].index()];
    if (static_cast<std::size_t>(inputs[i].elements()) != values.size()) bug("an input has another number of elements");
    values = reals_of(inputs[i]);
    for (double& value : values) value = in_precision(value, (*graph_)[inputs_[i]].precision);
  }
  for (const BlockId id : order_) run_block(id);
  std::vector<Array> made;
  for (const BlockId id : outputs_) {
    Array array = Array::make({Precision::f32, value_type((*graph_)[id]).extents});
    std::ranges::transform(values_[id.index()], reinterpret_cast<float*>(array.raw()),
                           [](double value) { return static_cast<float>(value); });
    made.push_back(std::move(array));
  }
  return made;
}

}  // namespace taskspec
