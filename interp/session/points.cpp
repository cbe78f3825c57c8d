#include "interp/session/points.hpp"

#include <algorithm>
#include <map>

#include "interp/session/field_memory.hpp"
#include "ir/region/piece_memory.hpp"

namespace taskspec {

Points::Points(const TaskGraph& session, TaskGraph& graph, FieldUsers& users, const FieldMemory* memory)
    : session_(session), graph_(graph), users_(users), memory_(memory) {
  users_.forget();
}

// ---- pieces and places ----------------------------------------------------------------------------

const IndexSpace*& Points::Pieces::operator[](std::int64_t colour) {
  if (const std::int64_t number = colour / page; number != last_number) {
    last = &pages[number];
    last_number = number;
  }
  return (*last)[static_cast<std::size_t>(colour % page)];
}

// By point and use. Launches that take the same piece share it.
void Points::add_pieces(const Launch& what, PointGroup& group) {
  const RegionForest& forest = session_.regions;
  const std::size_t uses = what.uses.size();
  group.pieces.resize(group.count * uses);
  for (std::size_t u = 0; u < uses; ++u) {
    const LaunchUse& use = what.uses[u];
    const PartitionId partition = use.partition.valid() ? use.partition : use.space.partition;
    Pieces* of = partition.valid() ? &of_partition_[partition.value] : nullptr;
    const Rect* colours = of ? &forest[partition].colours : nullptr;
    std::size_t at = u;
    what.each_point([&](const Point& point) {
      const Space space = use.at(point);
      const IndexSpace*& known = of ? (*of)[colours->linear(space.colour)] : of_region_[space.root.value];
      if (!known) known = graph_.add_piece(forest.points(space));
      group.pieces[at] = known;
      at += uses;
      return true;
    });
  }
}

PlaceId Points::place(RegionId region, std::uint32_t field) {
  PlaceId& place = places_[std::uint64_t{region.value} << 32 | field];
  if (!place.valid()) place = graph_.add_place(session_.place_name(session_.place(region, field)), Ref());
  return place;
}

PlaceId Points::first_place(const LaunchUse& use) {
  PlaceId first;
  use.fields.each([&](std::uint32_t f) { first = first.valid() ? first : place(use.space.root, f); });
  return first;
}

TypeId Points::buffer_type(Precision precision, std::int64_t elements) {
  return graph_.intern(Type::tensor(precision, {Dim(elements)}));
}

// ---- whom a point waits for -----------------------------------------------------------------------

// The next task of the graph takes part of a region.
void Points::use(const Space& space, const LaunchUse& use, Privilege privilege) {
  const std::size_t first = before_.size();
  users_.add(session_.regions, static_cast<std::uint32_t>(graph_.size()), {space, use.fields, privilege, use.op},
             before_);
  if (first == before_.size()) return;
  const PlaceId place = first_place(use);
  for (std::size_t k = first; k < before_.size(); ++k)
    after_.push_back({NodeId(before_[k].user), {}, 0, 0, EdgeKind::order, before_[k].why, place});
}

void Points::announce(const LaunchNode& launch, const Launch& what) {
  for (const bool changes : {true, false})
    for (const LaunchUse& use : what.uses) {
      if ((use.privilege != Privilege::in) != changes) continue;
      const auto join = [&](std::span<const FieldUsers::Edge> before) {
        return add_join(launch, first_place(use), before);
      };
      if (changes)
        users_.part(session_.regions, use.space.root, use.fields, most_edges, join);
      else
        share(what, use, join);
    }
}

// A space that several points of the launch read.
void Points::share(const Launch& what, const LaunchUse& use, FieldUsers::Join join) {
  const RegionForest& forest = session_.regions;
  const auto share = [&](const Space& space, std::size_t readers) {
    users_.share(forest, {space, use.fields, use.privilege, use.op}, readers, most_edges, join);
  };
  if (!use.partition.valid()) return share(use.space, what.points());
  if (use.projection.injective(what.domain)) return;
  const Rect& colours = forest[use.partition].colours;
  std::map<std::int64_t, std::size_t> readers;  // by colour
  what.each_point([&](const Point& point) {
    ++readers[colours.linear(use.projection(point))];
    return true;
  });
  for (const auto& [colour, count] : readers)
    if (count > 1) share({use.space.root, use.partition, colours.point(colour)}, count);
}

FieldUsers::User Points::add_join(const LaunchNode& launch, PlaceId place, std::span<const FieldUsers::Edge> before) {
  if (!join_) {
    auto made = std::make_shared<Launch>();
    made->work = Launch::Work::join;
    made->domain = Rect::of({1});
    made->single = true;
    join_ = std::move(made);
  }
  std::vector<TaskEdge> after;
  for (const FieldUsers::Edge& edge : before)
    after.push_back({NodeId(edge.user), {}, 0, 0, EdgeKind::order, edge.why, place});
  PointGroup group;
  group.count = 1;
  group.launch = join_;
  graph_.begin_points(std::move(group));
  Definition definition;
  definition.kind = Definition::Kind::launch;
  definition.name = "joined";
  const NodeId node =
      graph_.add(graph_.define(std::move(definition)),
                 {.in = {}, .out = {}, .scope = launch.scope, .span = session_[launch.node].span, .after = after});
  return node.value;
}

// A later use of the same task may have found a better reason.
void Points::take_reasons() {
  for (std::size_t k = 0; k < before_.size(); ++k) after_[k].why = before_[k].why;
}

NodeId Points::Map::of(std::uint32_t number) const {
  if (!made_by) return first;
  if (!made_by->own) return NodeId(first.value + number);
  const auto position = std::ranges::lower_bound(*made_by->own, number) - made_by->own->begin();
  return NodeId(first.value + static_cast<std::uint32_t>(position));
}

bool Points::Map::has(std::uint32_t number) const {
  return !made_by || !made_by->own || std::ranges::binary_search(*made_by->own, number);
}

void Points::wait_for(const Map& map, NodeId from) {
  after_.push_back({from, {}, 0, 0, EdgeKind::order, Hazard::raw, map.place});
}

void Points::wait_for_maps(const LaunchNode& launch, const Launch& what, std::uint32_t position) {
  for (std::size_t k = 0; k < what.each.size(); ++k) {
    const Ref ref = launch.in[k];
    auto map = ref.kind == Ref::Kind::input ? maps_.find(ref.id) : maps_.end();
    if (map == maps_.end()) continue;
    if (what.each[k]) {  // two arguments may be one element
      const NodeId from = map->second.of(what.element(k, position));
      const auto same = [&](const TaskEdge& e) { return e.from == from && e.place == map->second.place; };
      if (std::ranges::none_of(after_, same)) wait_for(map->second, from);
    } else if (what.work == Launch::Work::element) {
      const auto element = static_cast<std::uint32_t>(what.position);
      if (map->second.has(element)) wait_for(map->second, map->second.of(element));
    } else
      for (std::uint32_t p = 0; p < map->second.count; ++p) wait_for(map->second, NodeId(map->second.first.value + p));
  }
}

// The next task of the graph says something to other shards.
void Points::after_messages() {
  if (!messages_.valid()) messages_ = graph_.add_place("messages", Ref());
  if (last_message_.valid()) after_.push_back({last_message_, {}, 0, 0, EdgeKind::order, Hazard::raw, messages_});
  last_message_ = NodeId(graph_.size());
}

// ---- tasks ----------------------------------------------------------------------------------------

NodeId Points::add(const LaunchNode& launch) {
  const Launch& what = session_.launch(launch.node);
  announce(launch, what);
  PointGroup group;
  group.count = static_cast<std::uint32_t>(what.points());
  group.launch = std::static_pointer_cast<const Launch>(session_.arguments(launch.node).front().object());
  for (const LaunchUse& use : what.uses) {
    const Region& region = session_.regions[use.space.root];
    group.regions.push_back({region.extents, static_cast<std::uint32_t>(region.fields.size()),
                             memory_ ? memory_->room(use.space.root) : nullptr});
  }
  add_pieces(what, group);
  const NodeId first(graph_.size());
  PointGroup folds = group;
  graph_.begin_points(std::move(group));
  for (std::uint32_t position = 0; position < folds.count; ++position) add_point(launch, what, position);
  for (std::size_t slot = 0; slot < launch.maps.size(); ++slot) {
    const std::string name = session_.definition(launch.node).name + "." + session_.slot_out(launch.node, slot);
    maps_[launch.maps[slot].id] = {first, folds.count, graph_.add_place(name, launch.maps[slot]), &what};
  }
  if (what.work == Launch::Work::share) took_over(launch, what, first);
  if (!what.reduces()) return first;
  folds.folds = true;
  folds.first = first;
  what.messages ? add_messages(launch, what, std::move(folds)) : add_folds(launch, what, std::move(folds));
  return first;
}

// Who needs an element of a map that was shared waits for that.
void Points::took_over(const LaunchNode& launch, const Launch& what, NodeId node) {
  for (std::size_t k = 0; k < what.each.size(); ++k) {
    if (launch.in[k].kind != Ref::Kind::input) continue;
    Map& map = maps_[launch.in[k].id];
    if (!map.place.valid()) map.place = graph_.add_place("map", launch.in[k]);
    map = {node, 1, map.place, nullptr};
  }
}

void Points::add_folds(const LaunchNode& launch, const Launch& what, PointGroup points) {
  const NodeId first = points.first;
  const std::uint32_t count = points.count;
  graph_.begin_points(std::move(points));
  for (std::uint32_t position = 0; position < count; ++position) add_fold(launch, what, NodeId(first.value + position));
}

// One task for all contributions, of own points and of others: it may come to any point of the regions.
void Points::add_messages(const LaunchNode& launch, const Launch& what, PointGroup points) {
  const NodeId first = points.first;
  const std::uint32_t count = points.count;
  std::vector<const IndexSpace*> pieces;
  for (const LaunchUse& use : what.uses) {
    const IndexSpace*& whole = of_region_[use.space.root.value];
    if (!whole) whole = graph_.add_piece(session_.regions.points(Space{use.space.root}));
    pieces.push_back(whole);
  }
  pieces.insert(pieces.end(), points.pieces.begin(), points.pieces.end());
  points.pieces = std::move(pieces);
  points.count = 1;
  graph_.begin_points(std::move(points));
  before_.clear();
  after_.clear();
  in_.clear();
  const std::size_t before = what.single ? session_.out(launch.node).size() : 0;
  std::vector<Ref> fields;
  std::size_t field = what.each.size();
  for (const LaunchUse& use : what.uses) {
    const bool reduces = use.privilege == Privilege::reduce;
    use.fields.each([&](std::uint32_t) {
      if (reduces) fields.push_back(launch.in[field]);
      ++field;
    });
    if (reduces) this->use(Space{use.space.root}, use, Privilege::inout);
  }
  take_reasons();
  after_messages();
  for (std::uint32_t position = 0; position < count; ++position)
    for (std::size_t buffer = 0; buffer < fields.size(); ++buffer)
      in_.push_back(Ref::future(NodeId(first.value + position), before + buffer));
  in_.insert(in_.end(), fields.begin(), fields.end());
  Definition definition;
  definition.kind = Definition::Kind::launch;
  definition.name = session_.definition(launch.node).name;
  definition.suffix = ".fold";
  graph_.add(graph_.define(std::move(definition)), {.in = in_,
                                                    .out = {},
                                                    .scope = launch.scope,
                                                    .span = session_[launch.node].span,
                                                    .after = after_,
                                                    .effect = true});
}

void Points::add_point(const LaunchNode& launch, const Launch& what, std::uint32_t position) {
  const PointGroup& group = graph_.point_groups().back();
  const Point point = what.point(position);
  before_.clear();
  after_.clear();
  in_.assign(launch.in.begin(), launch.in.begin() + static_cast<std::ptrdiff_t>(what.each.size()));
  out_.clear();
  if (what.single)
    for (TypeId type : session_.out(launch.node)) out_.push_back(graph_.intern(session_.type(type)));
  std::size_t field = what.each.size();  // in launch.in
  bool effect = what.work == Launch::Work::files || talks(what);
  for (std::size_t u = 0; u < what.uses.size(); ++u) {
    const LaunchUse& use = what.uses[u];
    if (use.privilege == Privilege::reduce) {
      const std::int64_t elements = PieceMemory::own(*group.pieces[position * what.uses.size() + u]).elements();
      use.fields.each([&](std::uint32_t f) {
        out_.push_back(buffer_type(session_.regions[use.space.root].fields[f].precision, elements));
        ++field;
      });
      continue;
    }
    effect |= use.privilege != Privilege::in;
    use.fields.each([&](std::uint32_t) { in_.push_back(launch.in[field++]); });
    this->use(use.at(point), use, use.privilege);
  }
  take_reasons();
  in_.insert(in_.end(), launch.maps.begin(), launch.maps.end());
  wait_for_maps(launch, what, position);
  if (talks(what)) after_messages();
  graph_.add(launch.definition, {.in = in_,
                                 .out = out_,
                                 .scope = launch.scope,
                                 .agent = launch.agent,
                                 .span = session_[launch.node].span,
                                 .ordinal = position == 0 ? UINT32_MAX : graph_[group.first].ordinal,
                                 .after = after_,
                                 .effect = effect});
}

// The contributions of a point are outputs behind its own ones.
void Points::add_fold(const LaunchNode& launch, const Launch& what, NodeId point) {
  const PointGroup& group = graph_.point_groups().back();
  const std::uint32_t position = static_cast<std::uint32_t>(graph_.size()) - group.first.value;
  const Point at = what.point(position);
  before_.clear();
  after_.clear();
  in_.clear();
  std::vector<Ref> fields;
  std::size_t field = what.each.size(), buffer = what.single ? session_.out(launch.node).size() : 0;
  for (const LaunchUse& use : what.uses) {
    const bool reduces = use.privilege == Privilege::reduce;
    use.fields.each([&](std::uint32_t) {
      const Ref ref = launch.in[field++];
      if (!reduces) return;
      in_.push_back(Ref::future(point, buffer++));
      fields.push_back(ref);
    });
    if (reduces) this->use(use.at(at), use, Privilege::inout);
  }
  take_reasons();
  in_.insert(in_.end(), fields.begin(), fields.end());
  Definition definition = graph_.definition(point);
  definition.suffix = ".fold";
  graph_.add(graph_.define(std::move(definition)), {.in = in_,
                                                    .out = {},
                                                    .scope = launch.scope,
                                                    .span = graph_[point].span,
                                                    .ordinal = graph_[point].ordinal,
                                                    .after = after_,
                                                    .effect = true});
}

}  // namespace taskspec
