#include "interp/shards/data/lane_stack.hpp"

#include <algorithm>

namespace taskspec {
namespace {

std::uint64_t hash_of(const LaneStep& step) {
  std::uint64_t hash = static_cast<std::uint64_t>(step.kind);
  auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  };
  mix(step.key.value);
  mix(step.to.value);
  mix(step.fill);
  mix(step.space.root.value);
  mix(step.space.partition.value);
  for (const std::int64_t at : step.space.colour.at) mix(static_cast<std::uint64_t>(at));
  if (step.table) mix(step.table->bytes());
  return hash;
}

Space bound_of(const LaneStep& step, const RegionForest& forest, const KeyTable& keys) {
  return step.has_key() ? bound(forest, keys[step.key].use) : step.space;
}

bool takes_same(const UseKey& a, const UseKey& b) {
  return a.domain == b.domain && a.use.partition == b.use.partition &&
         (a.use.partition.valid() ? a.use.projection == b.use.projection : a.use.space == b.use.space);
}

// Every element that the lower one is about, the upper one is about, too.
bool contains(const LaneStep& upper, const LaneStep& lower, const RegionForest& forest, const KeyTable& keys) {
  if (upper.has_key() && lower.has_key() && takes_same(keys[upper.key], keys[lower.key])) return true;
  if (upper.has_key() && !covers_bound(forest, keys[upper.key])) return false;
  const Space outer = bound_of(upper, forest, keys);
  if (!outer.partition.valid()) return true;
  return lower.kind != LaneStep::Kind::table && forest.common_ancestor(outer, bound_of(lower, forest, keys)) == outer;
}

// After the upper one the lower one tells nothing.
bool hides(const LaneStep& upper, const LaneStep& lower, const RegionForest& forest, const KeyTable& keys) {
  using Kind = LaneStep::Kind;
  switch (upper.kind) {
    case Kind::write:
    case Kind::everywhere:
      return contains(upper, lower, forest, keys);
    case Kind::reduce:
      return (lower.holds() || lower.kind == Kind::reduce) && contains(upper, lower, forest, keys);
    case Kind::gather:
      return lower.holds() && contains(upper, lower, forest, keys);
    case Kind::read:
    case Kind::collect:
      return upper == lower;
    case Kind::table:
    case Kind::total:
    case Kind::answer:
      break;
  }
  return true;
}

}  // namespace

LaneStepId LaneSteps::of(const LaneStep& step) {
  const std::uint64_t hash = hash_of(step);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (steps_[known->second] == step) return known->second;
  const auto id = static_cast<LaneStepId>(steps_.size());
  by_hash_.emplace(hash, id);
  steps_.push_back(step);
  return id;
}

std::size_t LaneSteps::bytes() const {
  std::size_t bytes = steps_.capacity() * sizeof(LaneStep) + by_hash_.size() * 32;
  for (const LaneStep& step : steps_)
    if (step.table) bytes += step.table->bytes();
  return bytes;
}

LaneStack pushed(LaneStack stack, LaneStepId id, const LaneSteps& steps, const RegionForest& forest,
                 const KeyTable& keys) {
  const LaneStep& step = steps[id];
  std::erase_if(stack, [&](LaneStepId lower) { return hides(step, steps[lower], forest, keys); });
  auto at = stack.begin();
  // Who fetched first among those since the last change does not matter.
  if (step.holds())
    while (at != stack.end() && steps[*at].holds() && *at < id) ++at;
  stack.insert(at, id);
  return stack;
}

std::uint32_t free_fill(const LaneStack& stack, const LaneSteps& steps) {
  const auto is_known = [&](std::uint32_t number) {
    return std::ranges::any_of(stack, [&](LaneStepId id) {
      const LaneStep& step = steps[id];
      return step.fill == number ||
             (step.table && step.table->fills().size() >= number && !step.table->fills()[number - 1].empty());
    });
  };
  std::uint32_t number = 1;
  while (is_known(number)) ++number;
  return number;
}

bool names(const LaneStep& step, PartitionId partition, const KeyTable& keys) {
  if (!step.has_key()) return step.space.partition == partition;
  const LaunchUse& use = keys[step.key].use;
  return use.partition == partition || use.space.partition == partition;
}

}  // namespace taskspec
