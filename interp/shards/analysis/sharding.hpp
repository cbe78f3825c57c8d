// Which shard a point of a launch belongs to: a total function of the point's number, how many points there are and how
// many shards. The built-in ones are turned round by formula; a function of the program is asked for each point, once,
// and only the own points are kept.
//
//   PointSharding::block().shard(5, 8, 4) == ShardId(2)
//   own_points(PointSharding::cyclic(), 8, 4, ShardId(1))       // 1, 5
#pragma once
#include <functional>
#include <vector>

#include "interp/shards/message.hpp"
#include "ir/base/hash.hpp"
#include "ir/base/source.hpp"

namespace taskspec {

struct PointSharding {
  using Function = std::function<std::int64_t(std::int64_t point, std::int64_t size, std::int64_t shards)>;
  enum class Kind : std::uint8_t { block, cyclic, owner, function } kind = Kind::block;
  ShardId owner_shard;  // kind owner
  Function function;    // kind function
  Hash128 hash;         // kind function: of its code and of what it captured
  Span span;            // of the launch, for messages

  static PointSharding block() { return {}; }
  static PointSharding cyclic() { return {Kind::cyclic, {}, {}, {}, {}}; }
  static PointSharding owner(ShardId shard) { return {Kind::owner, shard, {}, {}, {}}; }
  static PointSharding of(Function function, Hash128 hash, Span span = {}) {
    return {Kind::function, {}, std::move(function), hash, span};
  }

  // The same, for a launch at another place.
  PointSharding at(Span place) const {
    PointSharding made = *this;
    made.span = place;
    return made;
  }

  // Throws Error E6005 where a function gives none of the shards.
  ShardId shard(std::int64_t point, std::int64_t size, std::size_t shards) const;
  // Of normal forms; the number of shards does not count.
  friend bool operator==(const PointSharding& a, const PointSharding& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Kind::owner) return a.owner_shard == b.owner_shard;
    return a.kind != Kind::function || a.hash == b.hash;
  }
};

// first, first + step, ... below end; or those of a list.
struct OwnPoints {
  std::int64_t first = 0, end = 0, step = 1;
  std::vector<std::int64_t> listed;  // ascending
  bool is_listed = false;

  std::int64_t count() const {
    if (is_listed) return static_cast<std::int64_t>(listed.size());
    return first < end ? (end - first + step - 1) / step : 0;
  }
  std::int64_t operator[](std::int64_t i) const {
    return is_listed ? listed[static_cast<std::size_t>(i)] : first + i * step;
  }
};

OwnPoints own_points(const PointSharding& sharding, std::int64_t size, std::size_t shards, ShardId self);

}  // namespace taskspec
