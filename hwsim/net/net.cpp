#include "hwsim/net/net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace taskspec {

namespace {

bool never_changes(const NetCluster& cluster, const BlockGraph& graph) {
  return cluster.is_there() && !cluster.is_state && std::ranges::all_of(cluster.sources, [&](const NetSource& source) {
           const TaskBlock& block = graph[source.block];
           return source.delay == 0 && !block.def->computes() && block.data && !graph.is_state(source.block);
         });
}

}  // namespace

bool NetCluster::is_array(const BlockGraph& graph) const {
  return places.is_identity() && value_type(graph[sources[0].block]).extents == type.extents;
}

std::size_t ChipNet::work_of(BlockId block) const {
  for (std::size_t i = 0; i < works.size(); ++i)
    if (works[i].block == block) return i;
  return SIZE_MAX;
}

NetPlaces NetPlaces::all_of(std::int64_t elements) {
  NetPlaces places;
  places.is_identity_ = true;
  places.size_ = static_cast<std::size_t>(elements);
  return places;
}

void NetPlaces::list_all() {
  if (!is_identity_) return;
  is_identity_ = false;
  places_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) places_[i] = {0, static_cast<std::int32_t>(i)};
}

void NetPlaces::resize(std::size_t elements) {
  list_all();
  places_.resize(elements);
}

void NetPlaces::set(std::size_t i, NetPlace place) {
  list_all();
  places_[i] = place;
}

std::vector<std::int32_t> places_in(const Extents& extents, const Box& box) {
  std::int64_t count = 1;
  for (std::int64_t size : box.size) count *= size;
  std::vector<std::int32_t> places(static_cast<std::size_t>(count));
  Extents index(box.size.size());
  for (std::int32_t& place : places) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i) at = at * extents[i] + box.position[i] + index[i];
    place = static_cast<std::int32_t>(at);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < box.size[i]) break;
      index[i] = 0;
    }
  }
  return places;
}

namespace {

class Flattener {
 public:
  Flattener(ChipNet& net, Diags& diags) : net_(net), graph_(*net.graph), diags_(diags) {}

  void flatten(const std::vector<BlockId>& order) {
    values_.resize(graph_.blocks.size());
    for (BlockId id : order) {
      if (graph_[id].def->kind == BlockKind::control)
        diags_
            .error("E4045", graph_[id].span,
                   fmt::format("{} '{}' decides what runs, and cores of a chip run all of it in each step",
                               graph_[id].def->name, graph_[id].name))
            .help("without it the chip computes all; with it the net runs on host");
      if (!graph_[id].def->computes()) continue;
      NetWork work{.block = id, .in = {}};
      for (std::size_t c = 0; c < graph_[id].in_clusters(); ++c) work.in.push_back(cluster(id, c));
      net_.works.push_back(std::move(work));
    }
    for (BlockId id : graph_.outputs()) net_.outputs.push_back({id, value(id)});
  }

 private:
  // Storage that edges fill, and outputs.
  bool is_passed_on(BlockId id) const {
    return !graph_[id].def->computes() && !graph_.is_state(id) && !graph_.into(id, 0).empty();
  }

  // Of delayed edges the source may stand behind the target.
  const NetCluster& value(BlockId id) {
    Known& known = values_[id.index()];
    if (known.is_there) return known.value;
    if (known.is_asked) {
      diags_.error("E4044", graph_[id].span, fmt::format("'{}' only passes on what it held before", graph_[id].name))
          .help("give it contents, or let a block that computes stand in its loop");
      return known.value;
    }
    known.is_asked = true;
    known.value = is_passed_on(id) ? cluster(id, 0) : itself(id);
    known.is_there = true;
    return known.value;
  }

  NetCluster itself(BlockId id) const {
    NetCluster value{.type = value_type(graph_[id]),
                     .holder = id,
                     .sources = {{.block = id, .delay = 0, .initial = {}}},
                     .places = {}};
    value.places = NetPlaces::all_of(value.type.elements());
    return value;
  }

  NetCluster cluster(BlockId id, std::size_t position) {
    const TaskBlock& block = graph_[id];
    NetCluster made;
    made.is_state = block.in_cluster(position).state;
    made.type.extents = cluster_extents(block, block.in_cluster(position));
    for (BlockEdgeId edge : graph_.into(id, position)) bring(graph_.edges[edge.index()], made);
    for (const NetSource& source : made.sources) {
      if (!made.is_state || !graph_.is_state(source.block)) continue;
      const BlockId owner = owners_.emplace(source.block.index(), id).first->second;
      if (owner != id)
        diags_
            .error("E4044", block.span,
                   fmt::format("'{}' and '{}' share the state '{}', and each keeps its own in its cores",
                               graph_[owner].name, block.name, graph_[source.block].name))
            .help("give each a storage of its own for its state");
    }
    for (std::size_t i = 0; i < made.places.size() && !made.places.is_identity() && !made.has_holes; ++i)
      made.has_holes = made.places[i].source < 0;
    if (!block.def->computes()) made.holder = id;
    if (made.is_there()) made.type.precision = graph_[made.holder].precision;
    return made;
  }

  void bring(const BlockEdge& edge, NetCluster& target) {
    if (edge.trigger)
      diags_.error("E4045", edge.span, "an edge triggers a group, and cores of a chip run all groups in each step")
          .help("without the trigger the chip computes all; with it the net runs on host");
    const NetCluster& value = this->value(edge.from.block);
    if (value.places.empty()) return;
    const Extents source_extents = value_type(graph_[edge.from.block]).extents;
    const Box from = edge.from.box.size.empty() ? whole(source_extents) : edge.from.box;
    const Box to = edge.to.box.size.empty() ? whole(target.type.extents) : edge.to.box;
    const Result<IndexMap> moves = compose(edge.moves, from.size, to.size, edge.span);
    if (!moves) return diags_.append(moves.diags());
    if (!target.holder.valid()) target.holder = edge.from.block;
    if (target.places.empty() && moves->is_identity() && value.places.is_identity() && from == whole(source_extents) &&
        to == whole(target.type.extents) && target.type.elements() == static_cast<std::int64_t>(value.places.size())) {
      add(value.sources[0], edge, value, target);
      target.places = NetPlaces::all_of(target.type.elements());
      return;
    }
    if (target.places.empty()) target.places.resize(static_cast<std::size_t>(target.type.elements()));
    const std::vector<std::int32_t> taken = places_in(source_extents, from);
    const std::vector<std::int32_t> filled = places_in(target.type.extents, to);
    std::vector<std::int32_t> sources(value.sources.size(), -1);
    for (std::size_t i = 0; i < filled.size(); ++i) {
      const std::int64_t at = moves->place(static_cast<std::int64_t>(i));
      if (at < 0) continue;
      const NetPlace place = value.places[static_cast<std::size_t>(taken[static_cast<std::size_t>(at)])];
      if (place.source < 0) continue;
      std::int32_t& number = sources[static_cast<std::size_t>(place.source)];
      if (number < 0) number = add(value.sources[static_cast<std::size_t>(place.source)], edge, value, target);
      target.places.set(static_cast<std::size_t>(filled[i]), {number, place.place});
    }
  }

  std::int32_t add(const NetSource& source, const BlockEdge& edge, const NetCluster& value, NetCluster& target) {
    NetSource read = source;
    const TaskBlock& made_by = graph_[source.block];
    if (graph_.is_state(source.block) && !target.is_state)
      diags_.error("E4044", edge.span, fmt::format("the state '{}' is read by others than its neurons", made_by.name))
          .help("read what the neurons make of it: the state stays in their cores");
    if (edge.delay > 0) {
      if (!made_by.def->computes() && made_by.data)
        diags_.error("E4044", edge.span, fmt::format("'{}' never changes, but comes with a delay", made_by.name))
            .help("an edge without a delay");
      if (source.delay > 0)
        diags_.error("E4044", edge.span, fmt::format("'{}' is delayed twice on one way", graph_[source.block].name))
            .help(fmt::format("a delay of {} on one of the edges", source.delay + edge.delay));
      read.delay = edge.delay;
      if (edge.initial) read.initial = initial_of(source.block, edge, value);
    }
    auto is_same = [&](const NetSource& other) {
      return other.block == read.block && other.delay == read.delay && !other.initial && !read.initial;
    };
    const auto found = std::ranges::find_if(target.sources, is_same);
    if (found != target.sources.end()) return static_cast<std::int32_t>(found - target.sources.begin());
    target.sources.push_back(std::move(read));
    return static_cast<std::int32_t>(target.sources.size() - 1);
  }

  // What an edge begins with, at the places of the block that the values come from.
  Array initial_of(BlockId source, const BlockEdge& edge, const NetCluster& value) {
    std::set<std::int32_t> is_set;
    Array initial = Array::make(value_type(graph_[source]));
    const Extents extents = value_type(graph_[edge.from.block]).extents;
    const Box from = edge.from.box.size.empty() ? whole(extents) : edge.from.box;
    const std::vector<std::int32_t> taken = places_in(extents, from);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const NetPlace place = value.places[static_cast<std::size_t>(taken[i])];
      if (place.source < 0 || value.sources[static_cast<std::size_t>(place.source)].block != source) continue;
      const std::int64_t begins = edge.initial->integer(static_cast<std::int64_t>(i));
      if (!is_set.insert(place.place).second && initial.integer(place.place) != begins)
        diags_
            .error("E4044", edge.span,
                   fmt::format("what '{}' makes once comes twice, and begins with two values", graph_[source].name))
            .help("one first value for both");
      initial.set_integer(place.place, begins);
    }
    return initial;
  }

  ChipNet& net_;
  const BlockGraph& graph_;
  Diags& diags_;
  struct Known {
    NetCluster value;
    bool is_asked = false, is_there = false;
  };
  std::map<std::size_t, BlockId> owners_;  // by storage that is a state: the block whose it is
  std::vector<Known> values_;
};

}  // namespace

Result<ChipNet> chip_net(std::shared_ptr<const BlockGraph> graph) {
  ChipNet net;
  net.graph = std::move(graph);
  Result<std::vector<BlockId>> order = net.graph->order();
  if (!order) return order.diags();
  net.inputs = net.graph->inputs();
  Diags diags;
  Flattener(net, diags).flatten(*order);
  if (diags.has_errors()) return diags;
  for (NetWork& work : net.works)
    for (NetCluster& cluster : work.in) cluster.is_data = never_changes(cluster, *net.graph);
  for (NetOutput& output : net.outputs) output.in.is_data = never_changes(output.in, *net.graph);
  return net;
}

}  // namespace taskspec
