// Who has the contents of a lane, as lists of runs for every shard: the plain form, which costs memory for all shards
// and all pieces. The judge of the plans that look at own points alone, and what is left of partitions that have gone.
//
//   HomeTable table(64, 4);              // 64 elements, 4 shards: everything is everywhere
//   table.write({a, b, c, d});           // by shard, what its points have written
//   table.missing(needs)                 // [to]: what is not there, by who sends it
#pragma once
#include <span>
#include <vector>

#include "ir/region/intervals.hpp"

namespace taskspec {

// Elements with the home of a shard or, where they are in no list, everywhere; and the elements of which a shard has
// the present contents. What a fill has set is everywhere, and a shard has it when it has filled it in.
class HomeTable {
 public:
  HomeTable() = default;
  HomeTable(std::int64_t elements, std::size_t shards);

  std::size_t shards() const { return home_.size(); }
  const Intervals& home(std::size_t shard) const { return home_[shard]; }
  const Intervals& valid(std::size_t shard) const { return valid_[shard]; }

  void write(std::span<const Intervals> by_shard);
  void everywhere(const Intervals& points);
  void fill(const Intervals& points, std::uint32_t number);  // from 1
  // By number - 1: what that fill has set and nobody has changed since. None of the last ones is empty.
  std::span<const Intervals> fills() const { return fills_; }
  void hold(std::size_t shard, const Intervals& points) { valid_[shard] = valid_[shard] | points; }
  // What is everywhere gets the home of the block share; then the homes alone have those points.
  void contribute(const Intervals& points);
  // Of what a shard needs, that which it has not got: by home.
  std::vector<Intervals> missing(std::size_t to, const Intervals& needs) const;

  std::size_t bytes() const;
  friend bool operator==(const HomeTable&, const HomeTable&) = default;

 private:
  void change(const Intervals& points);

  std::int64_t elements_ = 0;
  std::vector<Intervals> home_, valid_, fills_;
};

// The elements of that shard where a root is cut into equal shares.
Run block_share(std::int64_t elements, std::size_t shards, std::size_t shard);
// The shard whose share an element is in.
std::size_t block_home(std::int64_t element, std::int64_t elements, std::size_t shards);

}  // namespace taskspec
