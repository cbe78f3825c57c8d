#include "interp/shards/analysis/edge_plan.hpp"

#include <algorithm>

#include "interp/shards/analysis/turn_round.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // own index, earlier point

}  // namespace

const OwnPoints& EdgePlans::own(KeyId key) {
  std::unique_ptr<OwnPoints>& slot = own_[key.value];
  if (!slot)
    slot = std::make_unique<OwnPoints>(own_points(keys_[key].sharding, keys_[key].domain.size(), shards_, self_));
  return *slot;
}

const EdgePlan& EdgePlans::of(KeyId earlier, KeyId later) {
  std::unique_ptr<EdgePlan>& slot = plans_[std::uint64_t{earlier.value} << 32 | later.value];
  if (!slot) slot = std::make_unique<EdgePlan>(made(keys_[earlier], keys_[later], own(later)));
  return *slot;
}

EdgePlan EdgePlans::made(const UseKey& earlier, const UseKey& later, const OwnPoints& own) {
  Pairs pairs;
  const auto count = static_cast<std::uint32_t>(own.count());
  const LaunchUse& a = earlier.use;
  auto own_space = [&](std::uint32_t i) { return later.use.at(later.domain.point(own[i])); };
  auto all_points = [&](std::uint32_t i, const Rect& points) {
    each_point(points, [&](const Point& point) {
      pairs.emplace_back(i, earlier.domain.linear(point));
      return true;
    });
  };
  if (earlier.is_alike(later) && is_point_by_point(forest_, later)) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (++asked_; !forest_.points(own_space(i)).empty()) pairs.emplace_back(i, own[i]);
  } else if (!a.partition.valid()) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (++asked_; forest_.meet(a.space, own_space(i))) all_points(i, earlier.domain);
  } else {
    // Colours of the earlier partition that own points meet.
    const Partition& partition = forest_[a.partition];
    std::vector<std::pair<std::int64_t, std::uint32_t>> met;  // colour, own index
    for (std::uint32_t i = 0; i < count; ++i) {
      const Space space = own_space(i);
      if (space.root != a.space.root || forest_.statically_disjoint(space, partition.parent)) continue;
      const IndexSpace points = forest_.points(space);
      if (points.empty()) continue;
      partition.form->meeting(forest_, partition, points, [&](const Point& colour, const IndexSpace&) {
        ++asked_;
        met.emplace_back(partition.colours.linear(colour), i);
      });
    }
    if (can_turn_round(a.projection, earlier.domain)) {
      for (const auto& [colour, i] : met)
        all_points(i, *points_of_colour(a.projection, earlier.domain, partition.colours.point(colour)));
    } else {
      std::sort(met.begin(), met.end());
      std::int64_t number = 0;
      each_point(earlier.domain, [&](const Point& point) {
        ++asked_;
        const std::int64_t colour = partition.colours.linear(a.projection(point));
        for (auto at = std::lower_bound(met.begin(), met.end(), std::pair{colour, std::uint32_t{0}});
             at != met.end() && at->first == colour; ++at)
          pairs.emplace_back(at->second, number);
        ++number;
        return true;
      });
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  EdgePlan plan;
  plan.begins_.assign(count + std::size_t{1}, 0);
  for (const auto& [i, point] : pairs) ++plan.begins_[i + 1];
  for (std::uint32_t i = 0; i < count; ++i) plan.begins_[i + 1] += plan.begins_[i];
  for (const auto& [i, point] : pairs) plan.points_.push_back(point);
  plan.points_.shrink_to_fit();
  return plan;
}

void EdgePlans::forget(std::span<const KeyId> gone) {
  const auto is_gone = [&](std::uint64_t key) {
    return std::ranges::binary_search(gone, KeyId(static_cast<std::uint32_t>(key)));
  };
  std::erase_if(plans_, [&](const auto& plan) { return is_gone(plan.first) || is_gone(plan.first >> 32); });
  std::erase_if(own_, [&](const auto& own) { return is_gone(own.first); });
}

std::size_t EdgePlans::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [key, plan] : plans_) bytes += sizeof(EdgePlan) + plan->bytes();
  for (const auto& [key, own] : own_) bytes += sizeof(OwnPoints) + own->listed.capacity() * sizeof(std::int64_t);
  return bytes;
}

}  // namespace taskspec
