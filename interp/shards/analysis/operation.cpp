#include "interp/shards/analysis/operation.hpp"

#include <cstdlib>

namespace taskspec {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

// Every colour is some point's.
bool is_onto(const RegionForest& forest, const UseKey& key) {
  const Rect& colours = forest[key.use.partition].colours;
  const Projection& f = key.use.projection;
  if (key.domain.empty() || f.kind == Projection::Kind::function) return false;
  const auto image = f.image(key.domain);
  if (!image || !image->contains(colours)) return false;
  // The image is a rectangle of colours without holes where each coordinate moves by one with an axis of its own.
  std::array<bool, highest_rank> is_used{};
  for (std::size_t row = 0; row < f.out; ++row) {
    std::size_t found = 0;
    for (std::size_t axis = 0; axis < f.in; ++axis) {
      const std::int64_t factor = f.factors[row][axis];
      if (factor == 0 || key.domain.extent(axis) < 2) continue;
      if (std::abs(factor) != 1 || is_used[axis]) return false;
      is_used[axis] = true;
      ++found;
    }
    if (found > 1) return false;
  }
  return true;
}

}  // namespace

std::uint64_t hash_of(const Operation& op, const LaunchUse& use) {
  std::uint64_t hash = mixed(op.domain.rank, op.by_owners);
  for (std::size_t axis = 0; axis < op.domain.rank; ++axis)
    hash = mixed(mixed(hash, static_cast<std::uint64_t>(op.domain.lo[axis])),
                 static_cast<std::uint64_t>(op.domain.hi[axis]));
  hash = mixed(mixed(hash, static_cast<std::uint64_t>(op.sharding.kind)), op.sharding.owner_shard.value);
  hash = mixed(mixed(hash, op.sharding.hash.low), use.partition.value);
  hash = mixed(hash, use.space.root.value);
  if (!use.partition.valid()) {
    hash = mixed(hash, use.space.partition.value);
    for (const std::int64_t at : use.space.colour.at) hash = mixed(hash, static_cast<std::uint64_t>(at));
    return hash;
  }
  const Projection& f = use.projection;
  hash = mixed(mixed(hash, static_cast<std::uint64_t>(f.kind)), f.hash);
  if (f.kind != Projection::Kind::affine) return hash;
  for (const std::int64_t offset : f.offsets) hash = mixed(hash, static_cast<std::uint64_t>(offset));
  for (std::size_t row = 0; row < f.out; ++row)
    for (std::size_t axis = 0; axis < f.in; ++axis)
      hash = mixed(hash, static_cast<std::uint64_t>(f.factors[row][axis]));
  return hash;
}

bool UseKey::is_of(const Operation& op, const LaunchUse& of) const {
  if (!(domain == op.domain) || !(sharding == op.sharding) || by_owners != op.by_owners ||
      use.partition != of.partition)
    return false;
  return use.partition.valid() ? use.projection == of.projection : use.space == of.space;
}

bool UseKey::is_alike(const UseKey& other) const {
  if (hash != other.hash || !(domain == other.domain) || !(sharding == other.sharding) ||
      by_owners != other.by_owners || use.partition != other.use.partition)
    return false;
  return use.partition.valid() ? use.projection == other.use.projection : use.space == other.use.space;
}

KeyId KeyTable::of(const Operation& op, const LaunchUse& use) {
  const std::uint64_t hash = hash_of(op, use);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (keys_[known->second.index()].is_of(op, use)) return known->second;
  UseKey key{op.domain, op.sharding, {}, op.by_owners, hash};
  key.use.space = use.space;
  key.use.partition = use.partition;
  key.use.name = use.name;
  if (use.partition.valid()) key.use.projection = use.projection;
  if (free_.empty()) {
    free_.push_back(KeyId(keys_.size()));
    keys_.emplace_back();
  }
  const KeyId id = free_.back();
  by_hash_.emplace(hash, id);
  free_.pop_back();
  keys_[id.index()] = std::move(key);
  return id;
}

void KeyTable::forget(FunctionRef<bool(const UseKey&)> is_gone, FunctionRef<void(KeyId)> gone) {
  std::erase_if(by_hash_, [&](const auto& known) {
    const KeyId id = known.second;
    if (!is_gone(keys_[id.index()])) return false;
    if (gone) gone(id);
    keys_[id.index()] = {};
    free_.push_back(id);
    return true;
  });
}

bool covers_bound(const RegionForest& forest, const UseKey& key) {
  if (!key.use.partition.valid()) return !key.domain.empty();
  return is_onto(forest, key) && forest.complete(key.use.partition);
}

bool is_point_by_point(const RegionForest& forest, const UseKey& key) {
  if (!key.use.partition.valid()) return key.domain.size() <= 1;
  return key.use.projection.injective(key.domain) && forest.disjoint(key.use.partition);
}

}  // namespace taskspec
