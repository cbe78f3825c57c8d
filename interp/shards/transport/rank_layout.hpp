// Which shard lives in which process: shard k on rank floor(k*R/S).
//
//   RankLayout{.shards = 4, .ranks = 2, .rank = 1}.here();     // shards 2 and 3
#pragma once
#include <vector>

#include "interp/shards/message.hpp"

namespace taskspec {

struct RankLayout {
  std::size_t shards = 1, ranks = 1, rank = 0;

  std::size_t rank_of(ShardId shard) const { return shard.index() * ranks / shards; }
  std::vector<ShardId> here() const {
    std::vector<ShardId> found;
    for (std::size_t shard = 0; shard < shards; ++shard)
      if (rank_of(ShardId(shard)) == rank) found.push_back(ShardId(shard));
    return found;
  }
};

}  // namespace taskspec
