// The users of each lane that the fine stage may find dependences on: whose pieces nobody has covered since. Kept in
// program order on every shard alike, before the fine stage comes to an operation, so that traces can compare them. No
// list grows with the size of a launch, or with the length of a loop that reads again and again what nobody writes.
//
//   ExactLists lists(forest, keys);
//   ExactLists::Found found = lists.enter(op);      // keys of its uses, and the users that each must be held against
#pragma once
#include "interp/shards/analysis/lane_tree.hpp"

namespace taskspec {

// The operations first, first + stride, ...: equal uses that stand side by side.
struct OperationRun {
  std::uint64_t first = 0, stride = 0;
  std::uint64_t count = 1;

  std::uint64_t operator[](std::uint64_t i) const { return first + i * stride; }
  std::uint64_t last() const { return (*this)[count - 1]; }
  // False: that one does not follow in even steps.
  bool add(std::uint64_t op);
  // Those of them behind this one, of which the count may be 0.
  OperationRun behind(std::uint64_t op) const;
  friend auto operator<=>(const OperationRun&, const OperationRun&) = default;
};

class ExactLists {
 public:
  struct User {
    OperationRun ops;
    KeyId key;
    Privilege privilege = Privilege::in;
    ReduceOp reduce = ReduceOp::sum;
  };
  using Users = std::vector<User>;
  struct Source {
    OperationRun ops;
    KeyId key;
    std::uint32_t use = 0;  // of the later operation
    Hazard why{};
  };
  struct Found {
    std::vector<KeyId> keys;  // of each use
    std::vector<Source> sources;
  };

  ExactLists(const RegionForest& forest, KeyTable& keys) : forest_(forest), keys_(keys) {}

  Found enter(const Operation& op);
  Users& users(LaneKey lane);
  // Adds a user, to an equal one where that is possible.
  static void add(Users& users, const User& user);
  // All that the earlier one took, the later one takes, too.
  bool covers(KeyId later, KeyId earlier);

  void forget(RegionId root) {
    if (root.index() < lanes_.size()) lanes_[root.index()].clear();
  }
  bool names(RegionId root, PartitionId partition) const;
  void forget(std::span<const KeyId> gone);  // which no list has

  std::uint64_t entries() const { return entries_; }  // looked at so far
  std::size_t bytes() const;

 private:
  const RegionForest& forest_;
  KeyTable& keys_;
  std::vector<std::vector<Users>> lanes_;            // by region, by field
  std::unordered_map<std::uint64_t, bool> covered_;  // by pair of keys
  std::uint64_t entries_ = 0;
};

}  // namespace taskspec
