#include "interp/session/points.hpp"

#include <algorithm>

#include "ir/region/piece_memory.hpp"

namespace taskspec {

Points::Points(const TaskGraph& session, TaskGraph& graph, FieldUsers& users)
    : session_(session), graph_(graph), users_(users) {
  users_.forget();
}

// ---- pieces and places ----------------------------------------------------------------------------

const IndexSpace* Points::piece(const Space& space) {
  const RegionForest& forest = session_.regions;
  auto made = [&] { return graph_.add_piece(forest.points(space)); };
  if (!space.partition.valid()) {
    const IndexSpace*& known = of_region_[space.root.value];
    return known ? known : known = made();
  }
  constexpr std::int64_t most_kept = 1 << 24;  // colours of one partition
  const Rect& colours = forest[space.partition].colours;
  if (colours.size() > most_kept) return made();
  std::vector<const IndexSpace*>& pieces = of_partition_[space.partition.value];
  pieces.resize(static_cast<std::size_t>(colours.size()));
  const IndexSpace*& known = pieces[static_cast<std::size_t>(colours.linear(space.colour))];
  return known ? known : known = made();
}

PlaceId Points::place(RegionId region, std::uint32_t field) {
  PlaceId& place = places_[std::uint64_t{region.value} << 32 | field];
  if (!place.valid()) place = graph_.add_place(session_.place_name(session_.place(region, field)), Ref());
  return place;
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
  PlaceId place;
  for (std::size_t k = first; k < before_.size(); ++k) {
    if (!place.valid())
      use.fields.each([&](std::uint32_t f) { place = place.valid() ? place : this->place(space.root, f); });
    after_.push_back({NodeId(before_[k].user), {}, 0, 0, EdgeKind::order, before_[k].why, place});
  }
}

// A later use of the same task may have found a better reason.
void Points::take_reasons() {
  for (std::size_t k = 0; k < before_.size(); ++k) after_[k].why = before_[k].why;
}

void Points::wait_for(const Map& map, std::uint32_t position) {
  after_.push_back({NodeId(map.first.value + position), {}, 0, 0, EdgeKind::order, Hazard::raw, map.place});
}

void Points::wait_for_maps(const LaunchNode& launch, const Launch& what, std::uint32_t position) {
  for (std::size_t k = 0; k < what.each.size(); ++k) {
    const Ref ref = launch.in[k];
    auto map = ref.kind == Ref::Kind::input ? maps_.find(ref.id) : maps_.end();
    if (map == maps_.end()) continue;
    if (what.each[k]) {  // two arguments may be one element
      const NodeId from(map->second.first.value + what.element(k, position));
      const auto same = [&](const TaskEdge& e) { return e.from == from && e.place == map->second.place; };
      if (std::ranges::none_of(after_, same)) wait_for(map->second, what.element(k, position));
    } else if (what.work == Launch::Work::element)
      wait_for(map->second, static_cast<std::uint32_t>(what.position));
    else
      for (std::uint32_t p = 0; p < map->second.count; ++p) wait_for(map->second, p);
  }
}

// ---- tasks ----------------------------------------------------------------------------------------

NodeId Points::add(const LaunchNode& launch) {
  const Launch& what = session_.launch(launch.node);
  PointGroup group;
  group.count = static_cast<std::uint32_t>(what.points());
  group.launch = std::static_pointer_cast<const Launch>(session_.arguments(launch.node).front().object());
  for (const LaunchUse& use : what.uses) {
    const Region& region = session_.regions[use.space.root];
    group.regions.push_back({region.extents, static_cast<std::uint32_t>(region.fields.size())});
  }
  group.pieces.reserve(group.count * what.uses.size());
  each_point(what.domain, [&](const Point& point) {
    for (const LaunchUse& use : what.uses) group.pieces.push_back(piece(use.at(point)));
    return true;
  });
  const NodeId first(graph_.size());
  PointGroup folds = group;
  graph_.begin_points(std::move(group));
  for (std::uint32_t position = 0; position < folds.count; ++position) add_point(launch, what, position);
  for (std::size_t slot = 0; slot < launch.maps.size(); ++slot) {
    const std::string name = session_.definition(launch.node).name + "." + session_.slot_out(launch.node, slot);
    maps_[launch.maps[slot].id] = {first, folds.count, graph_.add_place(name, launch.maps[slot])};
  }
  if (!what.reduces()) return first;
  folds.folds = true;
  const std::uint32_t count = folds.count;
  graph_.begin_points(std::move(folds));
  for (std::uint32_t position = 0; position < count; ++position) add_fold(launch, what, NodeId(first.value + position));
  return first;
}

void Points::add_point(const LaunchNode& launch, const Launch& what, std::uint32_t position) {
  const PointGroup& group = graph_.point_groups().back();
  const Point point = what.domain.point(position);
  before_.clear();
  after_.clear();
  in_.assign(launch.in.begin(), launch.in.begin() + static_cast<std::ptrdiff_t>(what.each.size()));
  out_.clear();
  if (what.single)
    for (TypeId type : session_.out(launch.node)) out_.push_back(graph_.intern(session_.type(type)));
  std::size_t field = what.each.size();  // in launch.in
  bool effect = false;
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
  const Point at = what.domain.point(position);
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
