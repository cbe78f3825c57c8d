// What has happened to a lane, newest first, as far as it still tells who has what: a few entries, whatever the size of
// launches. Equal lists mean equal contents for every later step, so a loop comes back to a list it has been at.
//
//   LaneStack stack;                                  // empty: everything is everywhere
//   stack = pushed(stack, write_of_owned, context);   // what lies below and is hidden by it goes
#pragma once
#include <memory>

#include "interp/shards/analysis/operation.hpp"
#include "interp/shards/data/home_table.hpp"

namespace taskspec {

struct LaneStep {
  enum class Kind : std::uint8_t {
    write,       // the points of `key` are the homes
    everywhere,  // all shards have written `space`, alike; or it is set by a fill, and each fills in what it needs
    reduce,      // the points of `key` have contributed: homes alone have the contents
    read,        // those of `key` have what they take
    gather,      // all shards have `space`
    collect,     // shard `to` has it
    table,       // all that was before, as lists
    total,       // nothing changes, and it is in no stack: asked is who answers for which elements of `space`
    answer,      // likewise: what a shard fills in of those for which it answers
  } kind{};
  KeyId key{};
  Space space{};
  ShardId to{};
  std::shared_ptr<const HomeTable> table{};
  std::uint32_t fill = 0;  // everywhere: its number among the fills that the lane knows; 0: every shard has written

  bool holds() const { return kind == Kind::read || kind == Kind::gather || kind == Kind::collect; }
  bool has_key() const { return key.valid(); }
  friend bool operator==(const LaneStep& a, const LaneStep& b) {
    return a.kind == b.kind && a.key == b.key && a.space == b.space && a.to == b.to && a.fill == b.fill &&
           (a.table == b.table || (a.table && b.table && *a.table == *b.table));
  }
};

using LaneStepId = std::uint32_t;

// Kept once each.
class LaneSteps {
 public:
  LaneStepId of(const LaneStep& step);
  const LaneStep& operator[](LaneStepId id) const { return steps_[id]; }
  std::size_t bytes() const;

 private:
  std::vector<LaneStep> steps_;
  std::unordered_multimap<std::uint64_t, LaneStepId> by_hash_;
};

using LaneStack = std::vector<LaneStepId>;  // newest first

// With the step on top, and without those that no longer tell anything.
LaneStack pushed(LaneStack stack, LaneStepId step, const LaneSteps& steps, const RegionForest& forest,
                 const KeyTable& keys);
// The least number that no fill has of which the stack knows, from 1.
std::uint32_t free_fill(const LaneStack& stack, const LaneSteps& steps);
// One that names a piece of that partition.
bool names(const LaneStep& step, PartitionId partition, const KeyTable& keys);

}  // namespace taskspec
