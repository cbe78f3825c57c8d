#include "ir/graph/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/base/at_end.hpp"
#include "ir/base/key.hpp"
#include "ir/graph/boost_graph.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

namespace {

template <class T>
void put_bits(std::string& key, const T& value) {
  char bits[sizeof value];
  std::memcpy(bits, &value, sizeof value);
  key.append(bits, sizeof value);
}

// Equal keys, equal definitions. Only ever looked up: the addresses in it decide no order.
std::string key_of(const Definition& definition) {
  std::string key;
  put_bits(key, definition.kind);
  put_bits(key, definition.op);
  put_bits(key, definition.function);
  put_bits(key, definition.call);
  put_bits(key, definition.list.get());
  put_bits(key, definition.embedded.get());
  put_bits(key, definition.pass);
  put_text(key, definition.symbol);
  put_text(key, definition.name);
  put_text(key, definition.suffix);
  for (const std::string& slot : definition.inputs) put_text(key, slot);
  key += '>';
  for (const std::string& slot : definition.outputs) put_text(key, slot);
  return key;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

// Equal types have equal hashes. Different symbols of one name collide; the comparison after it tells them apart.
std::uint64_t hash_of(const Type& type) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(type.kind), static_cast<std::uint64_t>(type.precision));
  for (const Dim& dim : type.dims) {
    std::optional<std::int64_t> constant = dim.constant();
    hash = mix(hash, constant ? static_cast<std::uint64_t>(*constant) : std::hash<std::string>()(dim.text()));
  }
  for (const Type& part : type.parts) hash = mix(hash, hash_of(part));
  return hash;
}

std::string slot_name(const std::vector<std::string>& names, std::size_t slot, std::size_t count, const char* kind) {
  if (names.empty()) return kind + std::to_string(slot);
  if (count <= names.size()) return names[slot];
  std::size_t single = names.size() - 1;  // the last name is that of a list
  return slot < single ? names[slot] : fmt::format("{}[{}]", names[single], slot - single);
}

template <class Vector>
std::size_t memory_of(const Vector& table) {
  return table.capacity() * sizeof(typename Vector::value_type);
}

// For one more.
template <class T>
void make_room(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
}

}  // namespace

TaskGraph::TaskGraph() : scopes_(1), argument_lists_(1) {}

// ---- tables ---------------------------------------------------------------------------------------

std::uint32_t TaskGraph::name_id(std::string_view text) {
  return name_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(name_ids_.size())).first->second;
}

// Tasks and calls of graphs count together, so that a path names one thing.
std::uint32_t TaskGraph::count_call(ScopeId scope, std::uint32_t name) {
  if (scope == ScopeId(0)) {
    if (outermost_counts_.size() <= name) outermost_counts_.resize(name + std::size_t{1}, 0);
    return outermost_counts_[name]++;
  }
  auto& counts = scopes_[scope.index()].counts;
  for (auto& [known, count] : counts)
    if (known == name) return count++;
  counts.emplace_back(name, 1);
  return 0;
}

std::string_view text(TrainingPass pass) {
  constexpr std::string_view names[] = {"", "forward", "backward", "update"};
  return names[static_cast<std::size_t>(pass)];
}

DefinitionId TaskGraph::define(Definition definition) {
  auto [known, fresh] = definition_ids_.try_emplace(key_of(definition), DefinitionId(definitions_.size()));
  if (!fresh) return known->second;
  try {
    definition_names_.push_back(name_id(definition.title()));
    definitions_.push_back(std::move(definition));
  } catch (...) {  // without memory nothing has changed
    definition_names_.resize(definitions_.size());
    definition_ids_.erase(known);
    throw;
  }
  return known->second;
}

TypeId TaskGraph::intern(const Type& type) {
  std::uint64_t hash = hash_of(type);
  auto [first, last] = type_ids_.equal_range(hash);
  for (; first != last; ++first)
    if (types_[first->second.index()] == type) return first->second;
  TypeId id(types_.size());
  types_.push_back(type);
  type_ids_.emplace(hash, id);
  return id;
}

ScopeId TaskGraph::open_scope(ScopeId parent, std::string_view callee, FunctionId function) {
  if (callee.find('#') != std::string_view::npos) {  // it is counted already
    scopes_.push_back({parent, std::string(callee), function});
    return ScopeId(scopes_.size() - 1);
  }
  std::uint32_t ordinal = count_call(parent, name_id(callee));
  scopes_.push_back({parent, fmt::format("{}#{}", callee, ordinal), function});
  return ScopeId(scopes_.size() - 1);
}

InstanceId TaskGraph::add_agent(AgentInstance instance) {
  agents_.push_back(std::move(instance));
  return InstanceId(agents_.size() - 1);
}

void TaskGraph::add_layer(InstanceId outer, std::string name, InstanceId inner) {
  agents_[outer.index()].layers.emplace_back(std::move(name), inner);
}

std::size_t TaskGraph::add_constant(Type type, Value value) {
  constants_.emplace_back(std::move(type), std::move(value));
  return constants_.size() - 1;
}

const Value& TaskGraph::constant(std::size_t id) const { return constants_[id].second; }
const Type& TaskGraph::constant_type(std::size_t id) const { return constants_[id].first; }
std::size_t TaskGraph::constant_count() const { return constants_.size(); }
void TaskGraph::forget_constant(std::size_t id) { constants_[id].second = Value(); }
void TaskGraph::add_result(GraphResult result) { results_.push_back(std::move(result)); }
bool TaskGraph::contains(PlaceId place) const { return places_.contains(place.index()); }
const std::string& TaskGraph::place_name(PlaceId place) const { return places_[place.index()].name; }

std::size_t TaskGraph::add_input(GraphInput input) {
  inputs_.push_back(std::move(input));
  return inputs_.size() - 1;
}

PlaceId TaskGraph::add_place(std::string name, Ref initial) {
  initial.through_place = false;
  places_.push_back({std::move(name), initial, {}, {}});
  return PlaceId(places_.size() - 1);
}

// ---- regions --------------------------------------------------------------------------------------

RegionId TaskGraph::add_region(Region region, Span span) {
  const RegionId id = regions.add(std::move(region), span);
  const Region& added = regions[id];
  Type type = Type::tensor(Precision::f64, {});
  for (std::size_t axis = 0; axis < added.extents.rank; ++axis) type.dims.emplace_back(added.extents.extent(axis));
  if (region_types_.size() <= id.index()) region_types_.resize(id.index() + 1);
  if (region_places_.size() <= id.index()) region_places_.resize(id.index() + 1);
  for (std::size_t field = 0; field < added.fields.size(); ++field) {
    type.precision = added.fields[field].precision;
    region_types_[id.index()].push_back(intern(type));
    region_places_[id.index()].push_back(
        add_place(fmt::format("{}.{}", added.name, added.fields[field].name), Ref::field(id, field)));
  }
  return id;
}

void TaskGraph::remove_region(RegionId id) {
  regions.remove(id);
  region_types_[id.index()].clear();
  region_places_[id.index()].clear();
}

const Launch& TaskGraph::launch(NodeId id) const {
  const std::vector<Value>& values = arguments(id);
  auto* launch = values.empty() ? nullptr : values.front().as<Launch>();
  if (!launch) bug("a launch is asked for of a task that is none");
  return *launch;
}

void TaskGraph::begin_points(PointGroup group) {
  group.first = NodeId(size());
  groups_.push_back(std::move(group));
}

const IndexSpace* TaskGraph::add_piece(IndexSpace piece) { return &pieces_.emplace_back(std::move(piece)); }

const PointGroup* TaskGraph::points(NodeId id) const {
  auto group = std::upper_bound(groups_.begin(), groups_.end(), id,
                                [](NodeId node, const PointGroup& group) { return node < group.first; });
  if (group == groups_.begin()) return nullptr;
  --group;
  return id.value - group->first.value < group->count ? &*group : nullptr;
}

Ref TaskGraph::current(PlaceId place) const { return places_[place.index()].newest; }

// ---- nodes and edges ------------------------------------------------------------------------------

NodeId TaskGraph::add(DefinitionId definition, const NewNode& node, std::span<const Requirement> requirements,
                      FunctionRef<void(NodeId)> recorded) {
  if (std::max(node.in.size(), node.out.size()) > UINT16_MAX)
    throw failure("E5001", node.span, fmt::format("a task has at most {} inputs and outputs", UINT16_MAX));
  if (size() >= NodeId::none)
    throw failure("E5001", node.span, fmt::format("a session has at most {} tasks", NodeId::none));
  NodeId id(size());
  const std::array before{nodes_.size(), ins_.size(), outs_.size(), edges_.size()};
  bool added = false;
  const AtEnd taken_back([&] {  // where there was no memory for all of it
    if (added) return;
    nodes_.resize(before[0]);
    ins_.resize(before[1]);
    outs_.resize(before[2]);
    edges_.resize(before[3]);
  });
  TaskNode& fresh = nodes_.emplace_back();
  fresh.definition = definition;
  fresh.scope = node.scope;
  fresh.agent = node.agent;
  fresh.ordinal = node.ordinal;
  if (node.ordinal == UINT32_MAX) fresh.ordinal = count_call(node.scope, definition_names_[definition.index()]);
  fresh.first_in = static_cast<std::uint32_t>(ins_.size());
  fresh.first_out = static_cast<std::uint32_t>(outs_.size());
  fresh.first_edge = static_cast<std::uint32_t>(edges_.size());
  fresh.span = node.span;
  fresh.first_value = node.first_value;
  has_first_values_ |= node.first_value;
  fresh.maps = node.maps;
  fresh.effect = node.effect || std::ranges::any_of(requirements, &Requirement::writes);
  if (!node.arguments.empty()) {  // nearly always those of the task before, or of another one
    const std::uint32_t before = nodes_.size() > 1 ? nodes_[nodes_.size() - 2].arguments : 0;
    const bool again = before > 0 && std::ranges::equal(argument_lists_[before], node.arguments, identical);
    fresh.arguments = again ? before : intern(node.arguments);
  }
  ins_.insert(ins_.end(), node.in.begin(), node.in.end());
  outs_.insert(outs_.end(), node.out.begin(), node.out.end());
  if (!requirements.empty()) add_order_edges(id, requirements);
  for (TaskEdge edge : node.after) {
    edge.to = id;
    edges_.push_back(edge);
  }
  add_future_edges(id);
  for (const Requirement& requirement : requirements)
    if (!requirement.writes()) make_room(places_[requirement.place.index()].readers);
  if (recorded) recorded(id);
  added = true;
  if (!requirements.empty()) update_places(id, requirements);
  boost_.reset();
  return id;
}

std::uint32_t TaskGraph::intern(const std::vector<Value>& arguments) {
  std::uint64_t hash = 0;
  for (const Value& value : arguments) hash = mix(hash, hash_of(value));
  auto [begin, end] = argument_ids_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (std::ranges::equal(argument_lists_[known->second], arguments, identical)) return known->second;
  auto id = static_cast<std::uint32_t>(argument_lists_.size());
  if (free_arguments_.empty()) {
    argument_lists_.push_back(arguments);
  } else {
    id = free_arguments_.back();
    free_arguments_.pop_back();
    argument_lists_[id] = arguments;
  }
  argument_ids_.emplace(hash, id);
  return id;
}

void TaskGraph::add_future_edges(NodeId id) {
  const std::uint32_t first_in = nodes_.back().first_in, first_edge = nodes_.back().first_edge;
  for (std::size_t i = first_in; i < ins_.size(); ++i) {
    if (!ins_[i].is_future() || ins_[i].through_place) continue;
    TaskEdge& edge = edges_.emplace_back();
    edge.from = ins_[i].node();
    edge.to = id;
    edge.slot_from = ins_[i].slot;
    edge.slot_to = static_cast<std::uint16_t>(i - first_in);
  }
  auto before = [](const TaskEdge& a, const TaskEdge& b) {
    if (a.from != b.from) return a.from < b.from;
    return std::tie(a.kind, a.slot_from, a.slot_to, a.place) < std::tie(b.kind, b.slot_from, b.slot_to, b.place);
  };
  auto begin = edges_.begin() + first_edge;
  if (edges_.end() - begin > 1 && !std::is_sorted(begin, edges_.end(), before)) std::sort(begin, edges_.end(), before);
}

// Direct edges only: from the last writer and from the readers since, one per pair and place.
void TaskGraph::add_order_edges(NodeId id, std::span<const Requirement> requirements) {
  const std::uint32_t first_in = nodes_.back().first_in, first_edge = nodes_.back().first_edge;
  for (std::size_t k = 0; k < requirements.size(); ++k) {
    const Requirement& requirement = requirements[k];
    const PlaceState& place = places_[requirement.place.index()];
    bool again = std::any_of(requirements.begin(), requirements.begin() + static_cast<std::ptrdiff_t>(k),
                             [&](const Requirement& a) { return a.place == requirement.place; });
    auto add_edge = [&](NodeId from, Hazard why) {
      if (!contains(from)) return;  // it ran long ago
      if (again && std::any_of(edges_.begin() + first_edge, edges_.end(),
                               [&](const TaskEdge& e) { return e.from == from && e.place == requirement.place; }))
        return;
      edges_.push_back({from, id, 0, 0, EdgeKind::order, why, requirement.place});
    };
    if (requirement.reads() && requirement.has_versions()) {
      Ref& ref = ins_[first_in + requirement.slot_in];
      ref.through_place = false;
      if (ref != place.newest) bug("a place is read through another version than its newest");
      ref.through_place = place.writer.valid();
    }
    const Requirement writer{requirement.place, Privilege::out}, reader{requirement.place, Privilege::in};
    if (place.writer.valid()) add_edge(place.writer, hazard(writer, requirement));
    if (const Hazard why = hazard(reader, requirement); why != Hazard::none)
      for (NodeId before : place.readers) add_edge(before, why);
  }
}

void TaskGraph::update_places(NodeId id, std::span<const Requirement> requirements) {
  for (const Requirement& requirement : requirements) {
    PlaceState& place = places_[requirement.place.index()];
    if (requirement.writes()) {
      if (requirement.has_versions()) place.newest = Ref::future(id, requirement.slot_out);
      place.writer = id;
      place.readers.clear();
    } else if (place.writer != id && (place.readers.empty() || place.readers.back() != id)) {
      place.readers.push_back(id);
    }
  }
}

// ---- what is in it --------------------------------------------------------------------------------

std::span<const Ref> TaskGraph::in(NodeId id) const {
  if (id.value < first_) return old(id).in;
  std::size_t at = id.value - first_, begin = nodes_[at].first_in;
  std::size_t end = at + 1 < nodes_.size() ? nodes_[at + 1].first_in : ins_.size();
  return {ins_.data() + begin, end - begin};
}

std::span<const TypeId> TaskGraph::out(NodeId id) const {
  if (id.value < first_) return old(id).out;
  std::size_t at = id.value - first_, begin = nodes_[at].first_out;
  std::size_t end = at + 1 < nodes_.size() ? nodes_[at + 1].first_out : outs_.size();
  return {outs_.data() + begin, end - begin};
}

std::span<const TaskEdge> TaskGraph::edges_into(NodeId id) const {
  if (id.value < first_) return old(id).edges;
  std::size_t at = id.value - first_, begin = nodes_[at].first_edge;
  std::size_t end = at + 1 < nodes_.size() ? nodes_[at + 1].first_edge : edges_.size();
  return {edges_.data() + begin, end - begin};
}

const Type& TaskGraph::type(Ref ref) const {
  switch (ref.kind) {
    case Ref::Kind::constant:
      return constants_[ref.id].first;
    case Ref::Kind::input:
      return inputs_[ref.id].type;
    case Ref::Kind::field:
      return types_[region_types_[ref.id][ref.slot].index()];
    case Ref::Kind::future:
      break;
  }
  return types_[out(ref.node())[ref.slot].index()];
}

std::string TaskGraph::label(NodeId id) const {
  const PointGroup* group = points(id);
  const bool is_one = !group || group->launch->single || folds_all(*group);
  const Point point = is_one ? Point() : group->launch->point(id.value - group->first.value);
  return fmt::format("{}#{}{}{}", definition(id).name, (*this)[id].ordinal,
                     is_one ? std::string() : "[" + point.index() + "]", definition(id).suffix);
}

std::string TaskGraph::path(NodeId id) const {
  std::vector<const std::string*> outer;  // recursion may be deep: joined once
  for (ScopeId scope = (*this)[id].scope; scope.valid(); scope = scopes_[scope.index()].parent)
    if (!scopes_[scope.index()].name.empty()) outer.push_back(&scopes_[scope.index()].name);
  std::string path;
  for (auto name = outer.rbegin(); name != outer.rend(); ++name) (path += **name) += '/';
  return path + label(id);
}

std::string TaskGraph::slot_in(NodeId id, std::size_t slot) const {
  return slot_name(definition(id).inputs, slot, in(id).size(), "in");
}

std::string TaskGraph::slot_out(NodeId id, std::size_t slot) const {
  return slot_name(definition(id).outputs, slot, out(id).size(), "out");
}

std::string TaskGraph::text(const TaskEdge& edge) const {
  if (edge.kind == EdgeKind::future)
    return fmt::format("{}.{} -> {}.{}", path(edge.from), slot_out(edge.from, edge.slot_from), path(edge.to),
                       slot_in(edge.to, edge.slot_to));
  const char* why = edge.why == Hazard::raw ? "RAW" : edge.why == Hazard::waw ? "WAW" : "WAR";
  return fmt::format("{} -> {} ({} {})", path(edge.from), path(edge.to), why, place_name(edge.place));
}

const TaskGraph::Boost& TaskGraph::boost() const {
  if (first_ > 0) bug("all of a graph is asked for that gave tasks back");
  if (boost_) return *boost_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> positions;
  pairs.reserve(edges_.size());
  positions.reserve(edges_.size());
  for (EdgeKind kind : {EdgeKind::future, EdgeKind::order}) {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (edges_[i].kind != kind) continue;
      pairs.emplace_back(edges_[i].from.value, edges_[i].to.value);
      positions.push_back(static_cast<std::uint32_t>(i));
    }
  }
  boost_ = std::make_shared<const Boost>(
      Boost{BoostTaskGraph(boost::edges_are_unsorted_multi_pass, pairs.begin(), pairs.end(), positions.begin(),
                           static_cast<std::uint32_t>(nodes_.size()))});
  return *boost_;
}

std::size_t TaskGraph::bytes() const {
  std::size_t bytes = memory_of(nodes_) + memory_of(ins_) + memory_of(outs_) + memory_of(edges_) +
                      memory_of(definitions_) + memory_of(types_) + memory_of(scopes_) + memory_of(agents_) +
                      memory_of(argument_lists_) + memory_of(constants_) + memory_of(inputs_) + memory_of(results_) +
                      memory_of(places_) + memory_of(definition_names_) + memory_of(groups_) +
                      pieces_.size() * sizeof(IndexSpace) + regions.bytes();
  for (const PointGroup& group : groups_) bytes += memory_of(group.pieces);
  places_.each([&](std::size_t, const PlaceState& place) { bytes += memory_of(place.readers); });
  for (const auto& [id, node] : old_)
    bytes += sizeof node + memory_of(node.in) + memory_of(node.out) + memory_of(node.edges);
  return bytes;
}

}  // namespace taskspec
