// Which points of an earlier launch the own points of a later one meet, by the keys of two uses: found once for a pair
// of keys, then read.
//
//   EdgePlans plans(forest, keys, shards, self);
//   for (std::int64_t earlier : plans.of(before, now).of(i)) ...      // i: the i-th own point of the later launch
//
// By the forms of partitions and by projections turned round, so that nobody else's points are listed. A projection
// that cannot be turned round is asked for each point of the earlier launch, once, and what meets no own point is not
// kept.
#pragma once
#include <memory>

#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

class EdgePlan {
 public:
  // Linear numbers of points of the earlier launch, ascending.
  std::span<const std::int64_t> of(std::size_t own) const {
    return std::span(points_).subspan(begins_[own], begins_[own + 1] - begins_[own]);
  }
  std::size_t bytes() const {
    return begins_.capacity() * sizeof(std::uint32_t) + points_.capacity() * sizeof(std::int64_t);
  }

 private:
  friend class EdgePlans;
  std::vector<std::uint32_t> begins_;
  std::vector<std::int64_t> points_;
};

class EdgePlans {
 public:
  EdgePlans(const RegionForest& forest, const KeyTable& keys, std::size_t shards, ShardId self)
      : forest_(forest), keys_(keys), shards_(shards), self_(self) {}

  const EdgePlan& of(KeyId earlier, KeyId later);
  // Own points of launches with that domain and sharding; kept, as a function may have been asked.
  const OwnPoints& own(KeyId key);

  void forget(std::span<const KeyId> gone);  // ascending

  std::uint64_t asked() const { return asked_; }  // pieces and points looked at so far
  std::size_t bytes() const;

 private:
  EdgePlan made(const UseKey& earlier, const UseKey& later, const OwnPoints& own);

  const RegionForest& forest_;
  const KeyTable& keys_;
  const std::size_t shards_;
  const ShardId self_;
  std::unordered_map<std::uint64_t, std::unique_ptr<EdgePlan>> plans_;
  std::unordered_map<std::uint32_t, std::unique_ptr<OwnPoints>> own_;
  std::uint64_t asked_ = 0;
};

}  // namespace taskspec
