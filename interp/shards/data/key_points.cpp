#include "interp/shards/data/key_points.hpp"

#include <algorithm>

#include "interp/shards/analysis/turn_round.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

KeyPoints::KeyPoints(const RegionForest& forest, const UseKey& key, std::size_t shards, ShardId self,
                     std::uint64_t& touched)
    : forest_(forest),
      key_(key),
      size_(key.domain.size()),
      shards_(shards),
      own_(own_points(key.sharding, size_, shards, self)),
      touched_(touched) {
  const LaunchUse& use = key_.use;
  if (own_.is_listed) touched_ += static_cast<std::uint64_t>(size_);
  if (!use.partition.valid() || size_ == 0 || can_turn_round(use.projection, key_.domain)) return;
  has_formula_ = false;
  const Rect& colours = forest_[use.partition].colours;
  std::int64_t number = 0;
  taskspec::each_point(key_.domain, [&](const Point& point) {
    turned_.emplace_back(colours.linear(use.projection(point)), number++);
    return true;
  });
  std::sort(turned_.begin(), turned_.end());
  touched_ += turned_.size();
}

void KeyPoints::each_met(const IndexSpace& set,
                         FunctionRef<void(const IndexSpace& part, const Taking& by)> visit) const {
  if (set.empty() || size_ == 0) return;
  const LaunchUse& use = key_.use;
  if (!use.partition.valid()) {
    ++touched_;
    const IndexSpace part = intersect(forest_.root(use.space), set, forest_.points(use.space));
    if (!part.empty()) visit(part, {key_.domain, {}, false});
    return;
  }
  const Partition& partition = forest_[use.partition];
  partition.form->meeting(forest_, partition, set, [&](const Point& colour, const IndexSpace& part) {
    ++touched_;
    Taking by{Rect::of({0}), {}, false};
    if (has_formula_) {
      by.rect = *points_of_colour(use.projection, key_.domain, colour);
      if (by.rect.empty()) return;
    } else {
      const std::int64_t number = partition.colours.linear(colour);
      by.is_listed = true;
      for (auto at = std::lower_bound(turned_.begin(), turned_.end(), std::pair{number, std::int64_t{0}});
           at != turned_.end() && at->first == number; ++at)
        by.listed.push_back(at->second);
      if (by.listed.empty()) return;
    }
    visit(part, by);
  });
}

void KeyPoints::each_own_point(FunctionRef<void(std::int64_t point, const IndexSpace& piece)> visit) const {
  for (std::int64_t i = 0; i < own_.count(); ++i) {
    ++touched_;
    visit(own_[i], forest_.points(key_.use.at(key_.domain.point(own_[i]))));
  }
}

void KeyPoints::each_own(FunctionRef<void(std::int64_t point, const IndexSpace& piece)> visit) const {
  std::optional<Space> last;
  const std::int64_t count = key_.use.partition.valid() ? own_.count() : std::min<std::int64_t>(own_.count(), 1);
  for (std::int64_t i = 0; i < count; ++i) {
    ++touched_;
    const Space space = key_.use.at(key_.domain.point(own_[i]));
    if (last && *last == space) continue;
    visit(own_[i], forest_.points(space));
    last = space;
  }
}

// Rows of the domain, or the whole of it as one.
bool KeyPoints::each_row(const Rect& rect, FunctionRef<bool(std::int64_t first, std::int64_t end)> visit) const {
  if (rect.empty()) return true;
  if (rect == key_.domain) return visit(0, size_);
  if (rect.rank == 0) return visit(0, 1);
  Rect firsts = rect;
  const std::size_t last = rect.rank - 1u;
  firsts.hi[last] = firsts.lo[last] + 1;
  return taskspec::each_point(firsts, [&](const Point& first) {
    const std::int64_t begin = key_.domain.linear(first);
    return visit(begin, begin + rect.extent(last));
  });
}

void KeyPoints::each_point(const Taking& taking, FunctionRef<void(std::int64_t point)> visit) const {
  auto see = [&](std::int64_t point) {
    ++touched_;
    visit(point);
  };
  for (const std::int64_t point : taking.listed) see(point);
  if (!taking.is_listed)
    each_row(taking.rect, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t point = first; point < end; ++point) see(point);
      return true;
    });
}

// Of points one behind the other: every shard that has one, until `visit` says false; some more than once.
void KeyPoints::each_shard_of(std::int64_t first, std::int64_t end, FunctionRef<bool(ShardId shard)> visit) const {
  const PointSharding& sharding = key_.sharding;
  if (sharding.kind == PointSharding::Kind::owner) end = std::min(end, first + 1);
  if (sharding.kind == PointSharding::Kind::cyclic) end = std::min(end, first + static_cast<std::int64_t>(shards_));
  while (first < end) {
    ++touched_;
    const ShardId found = shard(first);
    if (!visit(found)) return;
    first = sharding.kind == PointSharding::Kind::block ? own_points(sharding, size_, shards_, found).end : first + 1;
  }
}

void KeyPoints::each_shard(const Taking& taking, FunctionRef<void(ShardId shard)> visit) const {
  std::vector<ShardId> found;
  auto see = [&](ShardId shard) {
    if (found.empty() || found.back() != shard) found.push_back(shard);
    return true;
  };
  for (const std::int64_t point : taking.listed) see(shard(point));
  if (!taking.is_listed)
    each_row(taking.rect, [&](std::int64_t first, std::int64_t end) {
      each_shard_of(first, end, see);
      return true;
    });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const ShardId shard : found) visit(shard);
}

bool KeyPoints::is_taken_by(const Taking& taking, ShardId wanted) const {
  bool found = false;
  for (const std::int64_t point : taking.listed) found = found || shard(point) == wanted;
  if (!taking.is_listed)
    each_row(taking.rect, [&](std::int64_t first, std::int64_t end) {
      // A shard's points in turns, or in one block: whether one lies between is arithmetic.
      if (key_.sharding.kind == PointSharding::Kind::block) {
        const OwnPoints own = own_points(key_.sharding, size_, shards_, wanted);
        found = std::max(first, own.first) < std::min(end, own.end);
      } else {
        each_shard_of(first, end, [&](ShardId shard) { return !(found = shard == wanted); });
      }
      return !found;
    });
  return found;
}

ShardId KeyPoints::first_shard(const Taking& taking) const {
  return shard(taking.is_listed ? taking.listed.front() : key_.domain.linear({taking.rect.lo, taking.rect.rank}));
}

std::size_t KeyPoints::bytes() const {
  return sizeof *this + own_.listed.capacity() * sizeof(std::int64_t) + turned_.capacity() * sizeof(turned_[0]);
}

}  // namespace taskspec
