// The points of a use and their pieces, asked for one shard's sake: own points by the sharding turned round, and which
// points take something of a given set by the form of the partition and the projection turned round. A projection that
// cannot be turned round, or a sharding by a function, is asked for each point once.
//
//   KeyPoints points(forest, key, shards, self);
//   points.each_met(set, [&](const IndexSpace& part, const KeyPoints::Taking& by) { ... points.first_shard(by) ... });
#pragma once
#include <optional>

#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

class KeyPoints {
 public:
  KeyPoints(const RegionForest& forest, const UseKey& key, std::size_t shards, ShardId self, std::uint64_t& touched);

  // Points that all take one piece: a rectangle of the domain, or those of a list.
  struct Taking {
    Rect rect;
    std::vector<std::int64_t> listed;
    bool is_listed = false;
  };
  // Pieces that have something of the set, each once: what that is, and who takes them.
  void each_met(const IndexSpace& set, FunctionRef<void(const IndexSpace& part, const Taking& by)> visit) const;
  // Pieces of own points; of points one behind the other that take one piece, the first.
  void each_own(FunctionRef<void(std::int64_t point, const IndexSpace& piece)> visit) const;
  void each_own_point(FunctionRef<void(std::int64_t point, const IndexSpace& piece)> visit) const;

  void each_point(const Taking& taking, FunctionRef<void(std::int64_t point)> visit) const;
  void each_shard(const Taking& taking, FunctionRef<void(ShardId shard)> visit) const;  // each once
  bool is_taken_by(const Taking& taking, ShardId shard) const;
  ShardId first_shard(const Taking& taking) const;
  ShardId shard(std::int64_t point) const { return key_.sharding.shard(point, size_, shards_); }

  std::size_t bytes() const;

 private:
  void each_shard_of(std::int64_t first, std::int64_t end, FunctionRef<bool(ShardId shard)> visit) const;
  bool each_row(const Rect& rect, FunctionRef<bool(std::int64_t first, std::int64_t end)> visit) const;

  const RegionForest& forest_;
  const UseKey key_;  // a copy: tables of keys move
  const std::int64_t size_;
  const std::size_t shards_;
  OwnPoints own_;
  std::vector<std::pair<std::int64_t, std::int64_t>> turned_;  // colour, point; where no formula turns it round
  bool has_formula_ = true;
  std::uint64_t& touched_;
};

}  // namespace taskspec
