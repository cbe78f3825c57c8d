#include "interp/shards/analysis/sharding.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

__extension__ using Wide = __int128;

// The first point of a shard when `size` points are cut into equal blocks.
std::int64_t block_begin(std::int64_t shard, std::int64_t size, std::int64_t shards) {
  return static_cast<std::int64_t>((Wide{shard} * size + shards - 1) / shards);
}

}  // namespace

ShardId PointSharding::shard(std::int64_t point, std::int64_t size, std::size_t shards) const {
  const auto count = static_cast<std::int64_t>(shards);
  switch (kind) {
    case Kind::block:
      return ShardId(static_cast<std::size_t>(Wide{point} * count / size));
    case Kind::cyclic:
      return ShardId(static_cast<std::size_t>(point % count));
    case Kind::owner:
    case Kind::function:
      break;
  }
  const std::int64_t told = kind == Kind::owner ? owner_shard.value : function(point, size, count);
  if (told < 0 || told >= count)
    throw failure("E6005", span,
                  "the sharding gives shard " + std::to_string(told) + " for point " + std::to_string(point) + " of " +
                      std::to_string(size) + ", and there " +
                      (count == 1 ? "is shard 0 alone" : "are shards 0 to " + std::to_string(count - 1)));
  return ShardId(static_cast<std::size_t>(told));
}

OwnPoints own_points(const PointSharding& sharding, std::int64_t size, std::size_t shards, ShardId self) {
  const auto count = static_cast<std::int64_t>(shards), shard = static_cast<std::int64_t>(self.index());
  switch (sharding.kind) {
    case PointSharding::Kind::block:
      return {block_begin(shard, size, count), block_begin(shard + 1, size, count), 1, {}, false};
    case PointSharding::Kind::cyclic:
      return {shard, size, count, {}, false};
    case PointSharding::Kind::owner:
      return {0, size > 0 && sharding.shard(0, size, shards) == self ? size : 0, 1, {}, false};
    case PointSharding::Kind::function:
      break;
  }
  OwnPoints own;
  own.is_listed = true;
  for (std::int64_t point = 0; point < size; ++point)
    if (sharding.shard(point, size, shards) == self) own.listed.push_back(point);
  return own;
}

}  // namespace taskspec
