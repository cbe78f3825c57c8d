#include "interp/session/liveness.hpp"

#include "ir/graph/launch.hpp"

namespace taskspec {

Liveness::~Liveness() {
  tasks_.each([&](std::size_t node, const Task& task) {
    free(task.first);
    for (std::size_t slot = 1; slot < graph_.out(NodeId(node)).size(); ++slot) free(task.more[slot - 1]);
  });
  constants_.each([&](std::size_t, const Constant& constant) {
    if (constant.location.valid()) backend_.free(constant.location);
  });
}

void Liveness::free(const Entry& entry) {
  if (entry.state == State::ready) backend_.free(entry.location);
}

void Liveness::add(NodeId node) {
  tasks_.resize(node.index() + 1);
  const std::size_t outputs = graph_.out(node).size();
  if (outputs > 1) task(node).more = std::make_unique<Entry[]>(outputs - 1);
  if (constants_.size() < graph_.constant_count()) constants_.resize(graph_.constant_count());
}

// A launch takes pieces of regions, also where it touches none of their fields.
std::span<const LaunchUse> Liveness::uses(NodeId node) const {
  if (!is_launch(graph_, node)) return {};
  return graph_.launch(node).uses;
}

void Liveness::add_readers(NodeId node) {
  for (const LaunchUse& use : uses(node)) {
    ++fields(use.space.root).users;
    for (const PartitionId partition : {use.space.partition, use.partition})
      if (forget_ && partition.valid()) graph_.regions.hold(partition);
  }
  for (Ref ref : graph_.in(node)) {
    if (ref.is_future()) {
      ++entry(ref).readers;
    } else if (ref.kind == Ref::Kind::constant) {
      Constant& known = constant(ref);
      ++known.readers;
      known.read = true;
    } else if (ref.kind == Ref::Kind::field) {
      ++fields(RegionId(ref.id)).users;
    }
  }
}

bool Liveness::is_named(NodeId node) {
  for (std::size_t slot = 0; slot < graph_.out(node).size(); ++slot)
    if (entry(node, slot).handles > 0) return true;
  return false;
}

void Liveness::set(NodeId node, State state, std::uint32_t poison) {
  for (std::size_t slot = 0; slot < graph_.out(node).size(); ++slot) {
    Entry& e = entry(node, slot);
    e.state = state;
    e.poison = poison;
  }
}

void Liveness::Cutting::count(std::uint32_t by) {
  for (NodeId node : nodes_)
    for (Ref ref : live_.graph_.in(node)) {
      if (ref.kind == Ref::Kind::input || ref.kind == Ref::Kind::field) continue;
      std::uint32_t& inside = ref.is_future() ? live_.entry(ref).inside : live_.constant(ref).inside;
      inside = by == 0 ? 0 : inside + by;
    }
}

bool Liveness::Cutting::is_last_use(Ref ref) const {
  auto unseen = [](const auto& value) { return value.handles == 0 && value.readers == value.inside; };
  if (ref.is_future()) return unseen(live_.entry(ref));
  // A number may be the same in all turns of a loop, and kept, or another one in each: both give one plan.
  const bool has_extents = ref.kind == Ref::Kind::constant && live_.graph_.constant_type(ref.id).rank() > 0;
  return live_.forget_ && has_extents && unseen(live_.constant(ref));
}

void Liveness::taken(Ref ref) {
  if (ref.is_future())
    entry(ref).state = State::gone;
  else
    constant(ref).location = {};
}

void Liveness::retain(Ref ref, bool in_call) {
  if (ref.is_future()) ++entry(ref).handles;
  if (ref.kind != Ref::Kind::constant) return;
  Constant& known = constant(ref);
  if (known.handles == 0 && !known.read) known.in_call = in_call;
  ++known.handles;
}

std::size_t Liveness::release(Ref ref) {
  if (ref.is_future()) {
    --entry(ref).handles;
    drop_if_unseen(ref);
  }
  if (ref.kind != Ref::Kind::constant || --constant(ref).handles > 0) return 0;
  const std::size_t bytes = constant(ref).readers > 0 ? graph_.constant(ref.id).array().bytes() : 0;
  drop_constant_if_unseen(ref);
  return bytes;
}

void Liveness::drop_if_unseen(Ref ref) {
  Entry& e = entry(ref);
  if (e.handles > 0 || e.readers > 0 || e.state != State::ready) return;
  backend_.free(e.location);
  e.state = State::gone;
}

void Liveness::drop_constant_if_unseen(Ref ref) {
  Constant& c = constant(ref);
  if (c.handles > 0 || (forget_ ? c.readers > 0 : c.read)) return;
  if (c.location.valid()) backend_.free(c.location);
  c.location = {};
  graph_.forget_constant(ref.id);
}

void Liveness::settled(NodeId node) {
  task(node).done = true;
  const std::span<const LaunchUse> uses = this->uses(node);
  for (const LaunchUse& use : uses)
    for (const PartitionId partition : {use.space.partition, use.partition})
      if (partition.valid()) release(partition);
  for (Ref ref : graph_.in(node)) {
    if (ref.is_future()) {
      --entry(ref).readers;
      drop_if_unseen(ref);
    } else if (ref.kind == Ref::Kind::constant) {
      --constant(ref).readers;
      drop_constant_if_unseen(ref);
    } else if (ref.kind == Ref::Kind::field) {
      unused(RegionId(ref.id));
    }
  }
  for (const LaunchUse& use : uses) unused(use.space.root);
}

void Liveness::unused(RegionId region) {
  --fields(region).users;
  drop_fields_if_unseen(region);
}

void Liveness::drop_fields_if_unseen(RegionId region) {
  Fields& known = fields(region);
  if (known.handles + known.users > 0) return;
  memory_.drop(region);
  gone_(region);
}

void Liveness::release(RegionId region) {
  --fields(region).handles;
  drop_fields_if_unseen(region);
}

Location Liveness::location(Ref ref) {
  if (ref.is_future()) return entry(ref).location;
  if (ref.kind == Ref::Kind::field) return memory_.location(ref);
  Location& location = constant(ref).location;
  if (!location.valid()) {
    const Array& array = graph_.constant(ref.id).array();
    location = backend_.allocate(array.type());
    backend_.write(location, array);
  }
  return location;
}

void Liveness::retire(const Staying& stays) {
  if (constants_.size() < graph_.constant_count()) constants_.resize(graph_.constant_count());
  tasks_.retire([&](std::size_t node) { return stays.nodes.contains(static_cast<std::uint32_t>(node)); });
  constants_.retire([&](std::size_t id) { return stays.constants.contains(static_cast<std::uint32_t>(id)); });
}

}  // namespace taskspec
