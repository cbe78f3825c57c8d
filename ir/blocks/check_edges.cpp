// How the blocks of a graph hang together: what feeds what, how much of it, and whether clusters are full.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/base/text.hpp"
#include "ir/blocks/check.hpp"
#include "ir/blocks/rearrange_rules.hpp"

namespace taskspec {

namespace {

std::string box_text(const Box& box) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < box.size.size(); ++k)
    parts.push_back(fmt::format("{}..{}", box.position[k], box.position[k] + box.size[k]));
  return "[" + joined(parts, ", ") + "]";
}

std::string place_text(const Extents& place) { return extents_text(place); }

class EdgeCheck {
 public:
  EdgeCheck(const BlockGraph& graph, const BlockTable& blocks, BlockMode mode, Diags& diags)
      : graph_(graph), blocks_(blocks), mode_(mode), diags_(diags) {}

  void run() {
    for (const BlockEdge& edge : graph_.edges) one_edge(edge);
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) clusters_of(BlockId(b));
  }

 private:
  void one_edge(const BlockEdge& edge);
  void check_trigger(const BlockEdge& edge);
  bool check_ends(const BlockEdge& edge);
  bool check_kinds(const BlockEdge& edge);
  bool check_box(const BlockEdge& edge, const BlockPort& port, const Extents& extents, const std::string& cluster);
  void check_sizes(const BlockEdge& edge);
  void check_storage(const BlockEdge& edge);
  void clusters_of(BlockId id);
  void check_cover(const TaskBlock& block, std::size_t cluster, const std::vector<const BlockEdge*>& edges);
  void check_precision(const TaskBlock& block, std::size_t cluster, const std::vector<const BlockEdge*>& edges);
  void check_pair(const TaskBlock& block, const BlockEdge& edge);
  std::vector<std::string> feeders_of(const TaskBlock& block) const;

  std::string cluster_text(const BlockPort& to) const {
    const TaskBlock& block = graph_[to.block];
    const bool has_one = block.def->in.size() == 1 && !block.def->in[0].repeated;
    return has_one ? block.name : block.name + "." + block.in_cluster_name(to.cluster);
  }

  const BlockGraph& graph_;
  const BlockTable& blocks_;
  BlockMode mode_;
  Diags& diags_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const BlockEdge*>> into_;  // by block and cluster
};

void EdgeCheck::one_edge(const BlockEdge& edge) {
  if (edge.from.block.index() >= graph_.blocks.size() || edge.to.block.index() >= graph_.blocks.size())
    bug("an edge to a block that is not there");
  if (edge.delay < 0) diags_.error("E4004", edge.span, fmt::format("a delay is 0 steps or more, not {}", edge.delay));
  // It carries no values into a cluster.
  if (edge.trigger) return check_trigger(edge);
  if (!check_ends(edge) || !check_kinds(edge)) {
    // What is refused fills its cluster all the same: the gap would be told as a second cause.
    if (edge.to.cluster < graph_[edge.to.block].in_clusters()) into_[{edge.to.block.index(), edge.to.cluster}];
    return;
  }
  check_storage(edge);
  const TaskBlock &from = graph_[edge.from.block], &to = graph_[edge.to.block];
  const bool from_fits = check_box(edge, edge.from, value_type(from).extents, from.name);
  const bool to_fits =
      check_box(edge, edge.to, cluster_extents(to, to.in_cluster(edge.to.cluster)), cluster_text(edge.to));
  auto& edges = into_[{edge.to.block.index(), edge.to.cluster}];
  if (!to_fits) return;
  edges.push_back(&edge);
  if (from_fits) check_sizes(edge);
}

// What fires is a block with values, outside of what it triggers.
void EdgeCheck::check_trigger(const BlockEdge& edge) {
  const TaskBlock& from = graph_[edge.from.block];
  if (from.def->out.empty()) {
    diags_.error("E4004", edge.span, fmt::format("{} '{}' gives nothing", from.def->name, from.name));
    return;
  }
  if (!edge.moves.empty() || !(edge.from.box == whole(value_type(from).extents)))
    diags_.error("E4004", edge.span, "a trigger carries no values: it has no part and no rearrangement");
  if (edge.initial)
    diags_.error("E4004", edge.span, "a trigger that is delayed does not fire before: it has no initial");
}

bool EdgeCheck::check_ends(const BlockEdge& edge) {
  const TaskBlock &from = graph_[edge.from.block], &to = graph_[edge.to.block];
  if (edge.from.cluster >= from.out_clusters()) {
    diags_.error("E4004", edge.span, fmt::format("{} '{}' gives nothing", from.def->name, from.name));
    return false;
  }
  if (edge.to.cluster < to.in_clusters()) {
    const ClusterDef& cluster = to.in_cluster(edge.to.cluster);
    if (!cluster.present || cluster.present(to)) return true;
    diags_.error("E4004", edge.span,
                 fmt::format("{} '{}' has no {} as its attributes are", to.def->name, to.name, cluster.name));
    return false;
  }
  diags_.error("E4004", edge.span,
               to.def->in.empty() ? fmt::format("{} '{}' takes nothing", to.def->name, to.name)
                                  : fmt::format("{} '{}' has {}, no number {}", to.def->name, to.name,
                                                plural(to.in_clusters(), "input"), edge.to.cluster + 1));
  return false;
}

// Storage that a compute block may read, as its record says.
std::vector<std::string> EdgeCheck::feeders_of(const TaskBlock& block) const {
  std::vector<std::string> names;
  for (const BlockDef* def : blocks_.all())
    if (std::ranges::find(def->feeds, block.def->name) != def->feeds.end()) names.emplace_back(def->name);
  return names;
}

bool EdgeCheck::check_kinds(const BlockEdge& edge) {
  const TaskBlock &from = graph_[edge.from.block], &to = graph_[edge.to.block];
  if (!to.def->computes()) return true;
  const std::vector<std::string> feeders = feeders_of(to);
  const std::string wanted = feeders.empty() ? "SI" : joined(feeders, ", ");
  if (from.def->computes() || from.def->kind == BlockKind::input) {
    const std::string storage = feeders.empty() ? "SI" : feeders[0];
    diags_
        .error("E4004", edge.span,
               fmt::format("{} '{}' feeds {} '{}', but only storage feeds a compute block", from.def->name, from.name,
                           to.def->name, to.name))
        .help(fmt::format("put storage between them, here {}: {} -> held, held -> {}, with held : {} {}", storage,
                          from.name, cluster_text(edge.to), storage, info(from.precision).name));
    return false;
  }
  if (from.def->feeds.empty() || std::ranges::find(from.def->feeds, to.def->name) != from.def->feeds.end()) return true;
  const std::vector<std::string> fed(from.def->feeds.begin(), from.def->feeds.end());
  diags_
      .error("E4004", edge.span,
             fmt::format("{} '{}' cannot feed {} '{}'", from.def->name, from.name, to.def->name, to.name))
      .note(fmt::format("{} feeds {}; {} is fed by {}", from.def->name, joined(fed, ", "), to.def->name, wanted));
  return false;
}

// What a chip stores it has cut to that precision before.
void EdgeCheck::check_storage(const BlockEdge& edge) {
  const TaskBlock &from = graph_[edge.from.block], &to = graph_[edge.to.block];
  if (mode_ != BlockMode::chip || to.def->computes() || from.precision == to.precision) return;
  diags_
      .error("E4005", edge.span,
             fmt::format("{} '{}' gives {}, and {} '{}' holds {}", from.def->name, from.name, info(from.precision).name,
                         to.def->name, to.name, info(to.precision).name))
      .help("an edge converts nothing: let both be the same, or put a CCMPB or CLUT between them");
}

bool EdgeCheck::check_box(const BlockEdge& edge, const BlockPort& port, const Extents& extents,
                          const std::string& cluster) {
  const Box& box = port.box;
  bool inside = box.position.size() == extents.size() && box.size.size() == extents.size();
  for (std::size_t k = 0; inside && k < extents.size(); ++k)
    inside = box.position[k] >= 0 && box.size[k] >= 1 && box.size[k] <= extents[k] &&
             box.position[k] <= extents[k] - box.size[k];
  if (!inside)
    diags_.error("E4003", edge.span,
                 fmt::format("{} lies outside of '{}', which is {}", box_text(box), cluster, extents_text(extents)));
  return inside;
}

Extents without_ones(Extents extents) {
  std::erase(extents, 1);
  return extents;
}

void EdgeCheck::check_sizes(const BlockEdge& edge) {
  const Extents &from = edge.from.box.size, &to = edge.to.box.size;
  if (!edge.moves.empty()) return diags_.append(check_rearrangements(edge.moves, from, to, edge.span));
  if (without_ones(from) == without_ones(to)) return;
  Diag& diag = diags_.error("E4003", edge.span,
                            fmt::format("'{}' gives {}, and '{}' takes {}", graph_[edge.from.block].name,
                                        extents_text(from), cluster_text(edge.to), extents_text(to)));
  if (places_of(from) == places_of(to)) diag.help("rearrange them on the way: | reshape()");
}

void EdgeCheck::clusters_of(BlockId id) {
  const TaskBlock& block = graph_[id];
  for (std::size_t c = 0; c < block.in_clusters(); ++c) {
    const ClusterDef& cluster = block.in_cluster(c);
    const auto found = into_.find({id.index(), c});
    if (found != into_.end()) {
      // Nothing but what was refused: said already.
      if (!found->second.empty()) check_cover(block, c, found->second), check_precision(block, c, found->second);
      continue;
    }
    const bool is_wanted = cluster.present ? cluster.present(block) : !cluster.optional;
    if (is_wanted)
      diags_.error("E4003", block.span,
                   fmt::format("nothing fills {} of {} '{}'", block.in_cluster_name(c), block.def->name, block.name));
  }
}

void EdgeCheck::check_cover(const TaskBlock& block, std::size_t cluster, const std::vector<const BlockEdge*>& edges) {
  const Extents extents = cluster_extents(block, block.in_cluster(cluster));
  std::vector<Box> boxes;
  for (const BlockEdge* edge : edges) boxes.push_back(edge->to.box);
  const Cover found = cover(extents, boxes);
  const std::string name = cluster_text(edges[0]->to);
  if (found.overlap) {
    const auto& [a, b] = *found.overlap;
    diags_
        .error("E4003", edges[b]->span,
               fmt::format("two edges fill {} of '{}': {} and {}", box_text(found.shared), name, box_text(boxes[a]),
                           box_text(boxes[b])))
        .label(edges[a]->span, "the other one");
  }
  if (!found.has_gap) return;
  const std::string how_much = fmt::format("{} of {} are filled", found.covered, places_of(extents));
  Diag& diag = diags_.error("E4003", block.span,
                            found.gap ? fmt::format("no edge fills place {} of '{}'", place_text(*found.gap), name)
                                      : fmt::format("the edges leave gaps in '{}'", name));
  diag.note(fmt::format("it is {}; {}", extents_text(extents),
                        found.overlap ? "filled by " + plural(edges.size(), "edge") : how_much));
}

void EdgeCheck::check_precision(const TaskBlock& block, std::size_t cluster,
                                const std::vector<const BlockEdge*>& edges) {
  if (!block.def->computes() || mode_ == BlockMode::real) return;
  const ClusterDef& def = block.in_cluster(cluster);
  for (const BlockEdge* edge : edges) {
    const TaskBlock& from = graph_[edge->from.block];
    if (cluster == 0 || def.repeated) check_pair(block, *edge);
    if (def.precisions.empty() || std::ranges::find(def.precisions, from.precision) != def.precisions.end()) continue;
    std::vector<std::string> names;
    for (const Precision precision : def.precisions) names.emplace_back(info(precision).name);
    diags_.error("E4005", edge->span,
                 fmt::format("'{}' holds {}, and {} of {} '{}' takes {}", from.name, info(from.precision).name,
                             block.in_cluster_name(cluster), block.def->name, block.name, joined(names, " or ")));
  }
}

void EdgeCheck::check_pair(const TaskBlock& block, const BlockEdge& edge) {
  const Precision in = graph_[edge.from.block].precision;
  std::vector<std::string> pairs;
  for (const BlockPrecisions& pair : block.def->precisions) {
    if (pair.in == in && pair.out == block.precision) return;
    pairs.push_back(fmt::format("{} -> {}", info(pair.in).name, info(pair.out).name));
  }
  diags_
      .error("E4005", block.span,
             fmt::format("{} '{}' does not compute {} from {}", block.def->name, block.name, info(block.precision).name,
                         info(in).name))
      .label(edge.span, fmt::format("'{}' holds {}", graph_[edge.from.block].name, info(in).name))
      .note(fmt::format("{} computes {}", block.def->name, joined(pairs, ", ")));
}

}  // namespace

void check_edges(const BlockGraph& graph, const BlockTable& blocks, BlockMode mode, Diags& diags) {
  EdgeCheck(graph, blocks, mode, diags).run();
}

}  // namespace taskspec
