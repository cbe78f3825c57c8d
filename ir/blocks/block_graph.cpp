#include "ir/blocks/block_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>
#include <charconv>

#include "ir/blocks/windows.hpp"

namespace taskspec {

namespace {

const BlockAttribute* given_attribute(const TaskBlock& block, std::string_view name) {
  auto found = std::find_if(block.attributes.begin(), block.attributes.end(),
                            [&](const BlockAttribute& a) { return a.def->name == name; });
  return found == block.attributes.end() ? nullptr : &*found;
}

// "input2" is position 1 of a repeated `input`.
std::optional<std::size_t> repeated_cluster(std::span<const ClusterDef> clusters, std::string_view name) {
  if (clusters.empty() || !clusters[0].repeated || !name.starts_with(clusters[0].name)) return std::nullopt;
  const std::string_view digits = name.substr(clusters[0].name.size());
  std::uint16_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits[0] == '0' || number < 2)
    return std::nullopt;
  return number - 1U;
}

}  // namespace

// ---- block ----------------------------------------------------------------------------------------

std::int64_t TaskBlock::attribute(std::string_view name) const {
  if (const BlockAttribute* given = given_attribute(*this, name)) return given->value;
  for (const BlockAttributeDef* known : def->attributes)
    if (known->name == name) return known->standard;
  bug(fmt::format("{} has no attribute {}", def->name, name));
}

bool TaskBlock::has(std::string_view name) const { return given_attribute(*this, name) != nullptr; }

void TaskBlock::set(const BlockAttributeDef& attribute, std::int64_t value) {
  for (BlockAttribute& given : attributes)
    if (given.def == &attribute) {
      given.value = value;
      return;
    }
  attributes.push_back({&attribute, value});
}

std::size_t TaskBlock::in_clusters() const {
  const bool repeated = !def->in.empty() && def->in[0].repeated;
  return def->in.size() + (repeated ? branches - 1U : 0U);
}

const ClusterDef& TaskBlock::in_cluster(std::size_t position) const {
  const std::size_t repeats = in_clusters() - def->in.size();
  return def->in[position <= repeats ? 0 : position - repeats];
}

std::string TaskBlock::in_cluster_name(std::size_t position) const {
  const ClusterDef& cluster = in_cluster(position);
  return cluster.repeated && position > 0 ? fmt::format("{}{}", cluster.name, position + 1) : std::string(cluster.name);
}

std::optional<std::size_t> TaskBlock::in_cluster_named(std::string_view name) const {
  const std::size_t repeats = in_clusters() - def->in.size();
  for (std::size_t i = 0; i < def->in.size(); ++i)
    if (def->in[i].name == name) return i == 0 ? 0 : i + repeats;
  return repeated_cluster(def->in, name);
}

std::size_t TaskBlock::out_clusters() const {
  const bool repeated = !def->out.empty() && def->out[0].repeated;
  return repeated ? static_cast<std::size_t>(std::clamp<std::int64_t>(attribute("outputs"), 1, UINT16_MAX))
                  : def->out.size();
}

std::string TaskBlock::out_cluster_name(std::size_t position) const {
  const ClusterDef& cluster = out_cluster(position);
  return position > 0 && cluster.repeated ? fmt::format("{}{}", cluster.name, position + 1) : std::string(cluster.name);
}

std::optional<std::size_t> TaskBlock::out_cluster_named(std::string_view name) const {
  for (std::size_t i = 0; i < def->out.size(); ++i)
    if (def->out[i].name == name) return i;
  return repeated_cluster(def->out, name);
}

// ---- extents --------------------------------------------------------------------------------------

BlockWindow window_of(const TaskBlock& block, BlockAxis axis) {
  const bool is_y = axis == BlockAxis::y;
  auto attribute = [&](std::string_view y, std::string_view x, std::int64_t none) {
    const BlockAttribute* value = given_attribute(block, is_y ? y : x);
    return value ? value->value : none;
  };
  BlockWindow window{.out = std::max<std::int64_t>(1, block.shape[axis]),
                     .kernel = std::max<std::int64_t>(1, is_y ? block.shape.ky : block.shape.kx),
                     .stride = std::max<std::int64_t>(1, attribute("stride_y", "stride_x", 1)),
                     .dilation = std::max<std::int64_t>(1, attribute("dilation_y", "dilation_x", 1)),
                     .before = attribute("pad_up", "pad_left", 0),
                     .after = attribute("pad_down", "pad_right", 0)};
  const std::int64_t given = is_y ? block.shape.iy : block.shape.ix;
  const std::int64_t least = (window.out - 1) * window.stride + window.reach() - window.before - window.after;
  window.in = given != 0 ? given : std::max<std::int64_t>(1, least);
  return window;
}

std::int64_t read_extent(const TaskBlock& block, BlockAxis axis) {
  const std::int64_t given = axis == BlockAxis::y ? block.shape.iy : block.shape.ix;
  if (given != 0 || block.shape[axis] == 0) return given;
  return window_of(block, axis).in;
}

Extents cluster_extents(const TaskBlock& block, const ClusterDef& cluster) {
  if (cluster.length) return {cluster.length(block)};
  if (cluster.extents) return cluster.extents(block);
  if (!cluster.windowed) return of(block.shape, cluster.axes);
  BlockShape read = block.shape;
  read.y = read_extent(block, BlockAxis::y);
  read.x = read_extent(block, BlockAxis::x);
  return of(read, cluster.axes);
}

ArrayType value_type(const TaskBlock& block) {
  return {block.precision, of(block.shape, block.def->out.empty() ? block.def->axes : block.def->out[0].axes)};
}

// ---- graph ----------------------------------------------------------------------------------------

std::vector<BlockId> triggered_by(const BlockGraph& graph, const BlockEdge& edge) {
  std::vector<BlockId> found;
  for (const BlockGroup& group : graph.groups)
    if (std::ranges::find(group.blocks, edge.to.block) != group.blocks.end())
      found.insert(found.end(), group.blocks.begin(), group.blocks.end());
  if (found.empty()) found.push_back(edge.to.block);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<bool> held_blocks(const BlockGraph& graph) {
  std::vector<bool> held(graph.blocks.size());
  for (std::size_t b = 0; b < held.size(); ++b) held[b] = graph.blocks[b].def->control != nullptr;
  // Down the edges of the step itself, until nothing is new.
  for (bool grows = true; grows;) {
    grows = false;
    for (const BlockEdge& edge : graph.edges) {
      const std::size_t to = edge.to.block.index();
      if (edge.trigger || edge.delay != 0 || !held[edge.from.block.index()] || held[to]) continue;
      held[to] = grows = true;
    }
  }
  for (const BlockEdge& edge : graph.edges)
    if (edge.trigger)
      for (const BlockId block : triggered_by(graph, edge)) held[block.index()] = true;
  return held;
}

bool BlockGraph::is_state(BlockId block) const {
  return std::any_of(edges.begin(), edges.end(), [&](const BlockEdge& edge) {
    const TaskBlock& target = blocks[edge.to.block.index()];
    return !edge.trigger && edge.from.block == block && edge.to.cluster < target.in_clusters() &&
           target.in_cluster(edge.to.cluster).state;
  });
}

std::vector<BlockId> BlockGraph::inputs() const {
  std::vector<bool> is_filled(blocks.size()), is_kept(blocks.size());
  for (const BlockEdge& edge : edges) {
    if (edge.trigger) continue;
    is_filled[edge.to.block.index()] = true;
    const TaskBlock& target = blocks[edge.to.block.index()];
    if (edge.to.cluster < target.in_clusters() && target.in_cluster(edge.to.cluster).state)
      is_kept[edge.from.block.index()] = true;
  }
  std::vector<BlockId> found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockKind kind = blocks[i].def->kind;
    const bool is_open = kind == BlockKind::storage && !blocks[i].data && !is_filled[i] && !is_kept[i];
    if (kind == BlockKind::input || is_open) found.push_back(BlockId(i));
  }
  return found;
}

std::vector<BlockId> BlockGraph::outputs() const {
  std::vector<BlockId> found;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].def->kind == BlockKind::output) found.push_back(BlockId(i));
  return found;
}

std::vector<BlockEdgeId> BlockGraph::into(BlockId block, std::size_t cluster) const {
  std::vector<BlockEdgeId> found;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (!edges[i].trigger && edges[i].to.block == block && edges[i].to.cluster == cluster)
      found.push_back(BlockEdgeId(i));
  return found;
}

std::vector<BlockEdgeId> BlockGraph::out_of(BlockId block) const {
  std::vector<BlockEdgeId> found;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i].from.block == block) found.push_back(BlockEdgeId(i));
  return found;
}

namespace {

using BlockOrderGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// Remembers the edge that closes a cycle, and who was found from whom.
struct BlockCycleFinder : boost::default_dfs_visitor {
  std::vector<std::size_t>* parent;
  std::optional<std::pair<std::size_t, std::size_t>>* closing;
  template <class Edge, class Graph>
  void tree_edge(const Edge& edge, const Graph& graph) {
    (*parent)[boost::target(edge, graph)] = boost::source(edge, graph);
  }
  template <class Edge, class Graph>
  void back_edge(const Edge& edge, const Graph& graph) {
    if (!*closing) *closing = {boost::source(edge, graph), boost::target(edge, graph)};
  }
};

Diags block_cycle(const BlockGraph& graph, const BlockOrderGraph& order) {
  std::vector<std::size_t> parent(graph.blocks.size());
  std::optional<std::pair<std::size_t, std::size_t>> closing;
  BlockCycleFinder finder;
  finder.parent = &parent;
  finder.closing = &closing;
  boost::depth_first_search(order, boost::visitor(finder));
  auto [last, first] = *closing;
  std::string path = graph.blocks[first].name;
  for (std::size_t at = last; at != first; at = parent[at]) path = graph.blocks[at].name + " -> " + path;
  path = graph.blocks[first].name + " -> " + path;
  auto edge = std::find_if(graph.edges.begin(), graph.edges.end(), [&](const BlockEdge& e) {
    const bool is_from = e.delay == 0 && e.from.block.index() == last;
    if (!is_from || !e.trigger) return is_from && e.to.block.index() == first;
    const std::vector<BlockId> blocks = triggered_by(graph, e);
    return std::ranges::find(blocks, BlockId(first)) != blocks.end();
  });
  Diags diags;
  diags.error("E3002", edge->span, "block graph has a cycle: " + path)
      .help("remove one of these edges, or give it delay(1): then the value of the step before comes back");
  return diags;
}

}  // namespace

Result<std::vector<BlockId>> BlockGraph::order() const {
  // Against the edges, so that a block comes behind what it needs as soon as its turn in order of place comes.
  BlockOrderGraph needs(blocks.size()), order(blocks.size());
  auto add = [&](BlockId from, BlockId to) {
    boost::add_edge(to.index(), from.index(), needs);
    boost::add_edge(from.index(), to.index(), order);
  };
  for (const BlockEdge& edge : edges) {
    if (edge.delay != 0) continue;
    if (!edge.trigger) add(edge.from.block, edge.to.block);
    if (edge.trigger)
      for (const BlockId block : triggered_by(*this, edge)) add(edge.from.block, block);
  }
  std::vector<std::size_t> sorted;
  sorted.reserve(blocks.size());
  try {
    boost::topological_sort(needs, std::back_inserter(sorted));
  } catch (const boost::not_a_dag&) {
    return block_cycle(*this, order);
  }
  std::vector<BlockId> ids;
  ids.reserve(sorted.size());
  for (std::size_t place : sorted) ids.push_back(BlockId(place));
  return ids;
}

}  // namespace taskspec
