#include "interp/session/poisoned_points.hpp"

#include <algorithm>

#include "ir/graph/launch.hpp"

namespace taskspec {

namespace {

std::uint64_t key(RegionId region, std::uint32_t field) { return std::uint64_t{region.value} << 32 | field; }

void note(PoisonedPoints::Causes& causes, NodeId node, std::uint32_t cause) {
  auto [known, fresh] = causes.emplace(node, cause);
  known->second = std::min(known->second, cause);
}

}  // namespace

void PoisonedPoints::each_point(const Batch& batch, const BatchGraph& graph, FunctionRef<void(const Task&)> visit) {
  for (const PointGroup& group : graph.graph->point_groups()) {
    if (is_join(group)) continue;
    // Folds stand behind the points of their launch, at the same place of the batch.
    const NodeId launch = batch.nodes[graph.position(group.first)];
    for (std::uint32_t position = 0; position < group.count; ++position)
      visit({NodeId(group.first.value + position), launch, group, position});
  }
}

// What it does to regions itself: contributions reach a field by their fold.
void PoisonedPoints::each_use(const Task& task,
                              FunctionRef<void(const LaunchUse&, Privilege, const Intervals&)> visit) const {
  const std::vector<LaunchUse>& uses = session_.launch(task.launch).uses;  // those of the plan may be of other regions
  for (std::size_t u = 0; u < uses.size(); ++u) {
    const bool reduces = uses[u].privilege == Privilege::reduce;
    if (reduces != task.group.folds) continue;
    const IndexSpace& piece = *task.group.of(task.node)[u];
    visit(uses[u], reduces ? Privilege::inout : uses[u].privilege, piece.as_intervals(task.group.regions[u].extents));
  }
}

void PoisonedPoints::overwrite(Fields& fields, const LaunchUse& use, const Intervals& points) {
  use.fields.each([&](std::uint32_t field) {
    auto parts = fields.find(key(use.space.root, field));
    if (parts == fields.end()) return;
    for (Part& part : parts->second) part.points = part.points - points;
    std::erase_if(parts->second, [](const Part& part) { return part.points.empty(); });
    if (parts->second.empty()) fields.erase(parts);
  });
}

void PoisonedPoints::poison(const LaunchUse& use, const Intervals& points, std::uint32_t cause) {
  overwrite(fields_, use, points);
  if (points.empty()) return;
  use.fields.each([&](std::uint32_t field) { fields_[key(use.space.root, field)].push_back({points, cause}); });
}

void PoisonedPoints::meet_fields(const Fields& fields, const Task& task, Causes& met) const {
  each_use(task, [&](const LaunchUse& use, Privilege privilege, const Intervals& points) {
    if (!reads(privilege)) return;
    if (everything_) note(met, task.node, *everything_);
    use.fields.each([&](std::uint32_t field) {
      auto parts = fields.find(key(use.space.root, field));
      if (parts == fields.end()) return;
      for (const Part& part : parts->second)
        if (common_point(part.points, points)) note(met, task.node, part.cause);
    });
  });
}

void PoisonedPoints::meet_maps(const Task& task, Causes& met) const {
  const Launch& launch = *task.group.launch;
  for (std::size_t k = 0; !task.group.folds && k < launch.each.size(); ++k) {
    const Ref ref = session_.in(task.launch)[k];
    auto map = ref.is_future() ? maps_.find(ref.id) : maps_.end();
    if (map == maps_.end()) continue;
    for (const auto& [position, cause] : map->second) {
      const bool of_another = (launch.each[k] && position != launch.element(k, task.position)) ||
                              (launch.work == Launch::Work::element && position != launch.position);
      if (!of_another) note(met, task.node, cause);
    }
  }
}

PoisonedPoints::Causes PoisonedPoints::met_by(const Batch& batch, const BatchGraph& graph) const {
  Causes met;
  Fields fields = fields_;
  each_point(batch, graph, [&](const Task& task) {
    meet_fields(fields, task, met);
    meet_maps(task, met);
    each_use(task, [&](const LaunchUse& use, Privilege privilege, const Intervals& points) {
      if (privilege == Privilege::out) overwrite(fields, use, points);
    });
  });
  return met;
}

void PoisonedPoints::ran(const Batch& batch, const BatchGraph& graph, const Causes& dead) {
  each_point(batch, graph, [&](const Task& task) {
    const auto cause = dead.find(task.node);
    each_use(task, [&](const LaunchUse& use, Privilege privilege, const Intervals& points) {
      if (!writes(privilege)) return;
      if (cause != dead.end())
        poison(use, points, cause->second);
      else if (privilege == Privilege::out)
        overwrite(fields_, use, points);
    });
    const bool makes_maps = !task.group.folds && session_[task.launch].maps;
    if (cause != dead.end() && makes_maps)
      maps_[task.launch.value][task.group.launch->number(task.position)] = cause->second;
  });
}

void PoisonedPoints::never_runs(NodeId launch, std::uint32_t cause) {
  const Launch& what = session_.launch(launch);
  for (const LaunchUse& use : what.uses) {
    if (!writes(use.privilege)) continue;
    const Rect& root = session_.regions[use.space.root].extents;
    std::vector<Run> runs;
    what.each_point([&](const Point& point) {
      session_.regions.points(use.at(point)).runs(root, [&](Run run) { runs.push_back(run); });
      return use.partition.valid();  // else all points have the same
    });
    poison(use, Intervals::of(std::move(runs)), cause);
  }
}

void PoisonedPoints::lost(NodeId launch, std::uint32_t cause) noexcept {
  try {
    never_runs(launch, cause);
  } catch (const std::bad_alloc&) {
    everything_ = cause;
  }
}

void PoisonedPoints::forget(RegionId region) {
  std::erase_if(fields_, [&](const auto& entry) { return entry.first >> 32 == region.value; });
}

void PoisonedPoints::forget_maps_but(const Staying& staying) {
  std::erase_if(maps_, [&](const auto& entry) { return !staying.nodes.contains(entry.first); });
}

}  // namespace taskspec
