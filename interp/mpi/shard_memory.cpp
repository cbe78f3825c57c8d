// Which elements of regions a shard needs memory for: told before what touches them is recorded.
#include "interp/mpi/shard_launches.hpp"

namespace taskspec {

using Why = TouchedElements::Why;

ShardLaunches::Outputs ShardLaunches::recorded(Launched launch) {
  run_.touched.each_change([&](RegionId root, std::shared_ptr<const PackedPlaces> packed) {
    target_.recorder().want_memory(root, std::move(packed));
  });
  return target_.recorded(std::move(launch));
}

// Of its own points what they take; contributions have buffers of their own.
void ShardLaunches::touch(const Operation& op, const Launch& launch, const PointSharding& sharding) {
  for (const LaunchUse& use : launch.uses) {
    const RegionId root = use.space.root;
    if (use.privilege == Privilege::reduce || use.fields.empty() || !run_.touched.asks(root)) continue;
    if (!run_.touched.is_new(root, Why::points, run_.keys.of(op, use).value)) continue;
    std::vector<Run> runs;
    for (const std::uint32_t number : *own(sharding, launch.domain)) {
      forest().points(use.at(launch.domain.point(number))).runs(forest()[root].extents, [&](Run run) {
        runs.push_back(run);
      });
      if (!use.partition.valid()) break;  // all take the same
    }
    run_.touched.add(root, Intervals::of(std::move(runs)));
  }
}

void ShardLaunches::touch(const Space& space) {
  if (run_.touched.asks(space.root)) run_.touched.add(space.root, forest().points(space));
}

void ShardLaunches::touch(RegionId root, const Movement* fills) {
  if (!fills || !run_.touched.is_new(root, Why::fills, fills->id)) return;
  for (const Movement::Fill& fill : fills->fills) run_.touched.add(root, fill.runs);
}

// Those that are added up here.
void ShardLaunches::touch(RegionId root, const FoldMovement* contributions) {
  if (!contributions || !run_.touched.is_new(root, Why::contributions, contributions->id)) return;
  std::vector<Run> runs;
  for (const FoldMovement::Step& step : contributions->steps)
    runs.insert(runs.end(), step.runs.runs().begin(), step.runs.runs().end());
  run_.touched.add(root, Intervals::of(std::move(runs)));
}

void ShardLaunches::touch(RegionId root, const TotalShare& share) {
  if (!run_.touched.is_new(root, Why::total, share.id())) return;
  run_.touched.add(root, Intervals::of({share.elements().begin(), share.elements().end()}) | share.parts());
}

}  // namespace taskspec
