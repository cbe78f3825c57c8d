// Who used a region last: for each field the users that a later one must wait for. A user that comes gets its direct
// predecessors, point by point exact: an earlier one that interferes with it, and no third one in between does with
// both on the points they share.
//
//   FieldUsers users;
//   std::vector<FieldUsers::Edge> before;
//   users.add(forest, 0, {piece(forest, owned, 1), fields, Privilege::inout}, before);    // nobody before
//   users.add(forest, 1, {piece(forest, ghost, 2), fields, Privilege::in}, before);       // {0, RAW}
//
// Points that all users so far took together are one atom; a space is looked up once, then it is a list of atoms. So a
// loop of launches pays for each point what its pieces have of atoms: one where equal keys meet, five for a halo.
#pragma once
#include <memory>
#include <vector>

#include "ir/region/interference.hpp"

namespace taskspec {

class FieldUsers {
 public:
  using User = std::uint32_t;
  struct Edge {
    User user;
    Hazard why;  // RAW before WAW before WAR, where there are several
    friend bool operator==(const Edge&, const Edge&) = default;
  };

  FieldUsers();
  FieldUsers(FieldUsers&&) noexcept;
  FieldUsers& operator=(FieldUsers&&) noexcept;
  ~FieldUsers();

  // Users come in program order. Adds to `before` whom `user` must wait for; each once, also if it is there already
  // from another access of the same user, and never `user` itself.
  void add(const RegionForest& forest, User user, const Access& access, std::vector<Edge>& before);
  // Where many users read one space, each of them would wait for all who wrote a part of it, and each later writer for
  // all of them: as many edges as the two numbers multiplied. Told of that before the readers come, `join` makes a user
  // that waits for whom they would wait for, and they wait for that one.
  using Join = FunctionRef<User(std::span<const Edge> before)>;
  // So many users that come next read the space. More than `most` predecessors of several become one; so do, in `part`,
  // more than `most` of such readers.
  void share(const RegionForest& forest, const Access& access, std::size_t readers, std::size_t most, Join join);
  // Users that come next change these fields.
  void part(const RegionForest& forest, RegionId region, const FieldMask& fields, std::size_t most, Join join);
  // All users so far are done: nobody waits for them any more. What was looked up stays.
  void forget();
  void forget(RegionId region);                         // and all that is kept for it: its last handle has gone
  void forget(RegionId region, PartitionId partition);  // which pieces it had

  std::size_t atoms() const;
  std::size_t bytes() const;

 private:
  struct Lanes;
  std::unique_ptr<Lanes> lanes_;
};

}  // namespace taskspec
