#include "ir/region/users.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/region/atoms.hpp"
#include "ir/region/user_list.hpp"

namespace taskspec {
namespace users {

using Edge = FieldUsers::Edge;
using User = FieldUsers::User;

// Whom a user waits for, in the order of discovery, each once. A few are searched through, more are hashed.
class Found {
 public:
  void begin(std::vector<Edge>& edges) {
    edges_ = &edges;
    hashed_ = 0;
  }

  void add(User user, Hazard why) {
    Edge* known = edges_->size() <= most_searched ? searched(user) : hashed(user);
    if (known)
      known->why = std::min(known->why, why);
    else
      edges_->push_back({user, why});
  }

 private:
  static constexpr std::size_t most_searched = 32;

  Edge* searched(User user) {
    for (Edge& edge : *edges_)
      if (edge.user == user) return &edge;
    return nullptr;
  }

  Edge* hashed(User user) {
    if (2 * edges_->size() > room_ || hashed_ == 0) {
      // As much as these edges want: an earlier search may have wanted more.
      room_ = std::max<std::size_t>(256, 4 * edges_->size());
      slots_.resize(std::max(slots_.size(), room_));
      std::fill_n(slots_.begin(), room_, 0);
      hashed_ = 0;
    }
    for (; hashed_ < edges_->size(); ++hashed_) slot((*edges_)[hashed_].user) = static_cast<std::uint32_t>(hashed_ + 1);
    const std::uint32_t place = slot(user);
    return place ? &(*edges_)[place - 1] : nullptr;
  }

  // Of that user, or the free one where it belongs.
  std::uint32_t& slot(User user) {
    std::size_t at = user * std::uint64_t{0x9E3779B97F4A7C15} >> 20;
    for (;; ++at) {
      std::uint32_t& place = slots_[at % room_];
      if (place == 0 || (*edges_)[place - 1].user == user) return place;
    }
  }

  std::vector<Edge>* edges_ = nullptr;
  std::vector<std::uint32_t> slots_;  // positions in edges, from 1
  std::size_t room_ = 0;              // slots in use
  std::size_t hashed_ = 0;            // of edges; 0: the slots belong to another search
};

struct Need {
  Privilege privilege = Privilege::in;
  ReduceOp op = ReduceOp::sum;
};

// The users of an atom: the last ones that commute with one another, and those before. Each of the last waits for all
// of those before, so nobody else needs to be remembered: who waits for one of the last waits for everybody.
struct Users {
  std::uint32_t epoch = 0;  // an older one than the lane's: nobody is there
  bool is_shared = false;   // there are readers in Lane::shared that are not here
  Need need, need_before;
  UserList last, before;

  void add(User user, Need now, Found& edges) {
    if (last.all().empty()) {
      need = now;
      last.set(user);
      return;
    }
    const Hazard why = hazard(need.privilege, need.op, now.privilege, now.op);
    if (why == Hazard::none) {
      wait(before, hazard(need_before.privilege, need_before.op, now.privilege, now.op), user, edges);
      last.add(user);
      return;
    }
    wait(last, why, user, edges);
    follow(user, now);
  }

  // Whom a user with this need would wait for.
  void wait(Need now, User user, Found& edges) const {
    const Hazard why = hazard(need.privilege, need.op, now.privilege, now.op);
    if (why != Hazard::none) return wait(last, why, user, edges);
    wait(before, hazard(need_before.privilege, need_before.op, now.privilege, now.op), user, edges);
  }

  // A user that is known to wait for whom it must.
  void enter(User user, Need now) {
    if (last.all().empty()) {
      need = now;
      last.set(user);
    } else if (hazard(need.privilege, need.op, now.privilege, now.op) == Hazard::none) {
      last.add(user);
    } else {
      follow(user, now);
    }
  }

 private:
  void follow(User user, Need now) {
    before.swap(last);
    need_before = need;
    need = now;
    last.set(user);
  }
  static void wait(const UserList& users, Hazard why, User user, Found& edges) {
    for (const User earlier : users.all())
      if (earlier != user) edges.add(earlier, why);
  }
};

// Readers of one space, of which each waits for the same users; their atoms do not know them yet.
struct Shared {
  Space space;
  std::vector<Edge> before;
  std::vector<User> users;
};

// One field of one region.
struct Lane {
  Atoms atoms;
  std::vector<Users> users;  // by atom
  std::uint32_t epoch = 0;
  std::size_t added = 0;                                            // since the users were forgotten
  std::map<std::pair<std::uint32_t, std::int64_t>, Shared> shared;  // by partition and colour

  explicit Lane(const Rect& root) : atoms(root), users(1) {}

  // All users of earlier epochs are done. An atom learns of it when it is looked at.
  void begin(std::uint32_t now) {
    if (epoch == now) return;
    epoch = now;
    added = 0;
    shared.clear();
  }

  void add(const RegionForest& forest, User user, const Space& space, Need need, Found& edges) {
    ++added;
    if (!shared.empty() && take_shared(forest, user, space, need, edges)) return;
    each_users(forest, space, [&](Users& of) { of.add(user, need, edges); });
  }

  // Where there are few of all, one by one is as good.
  void share(const RegionForest& forest, const Space& space, std::size_t count, std::size_t most,
             FieldUsers::Join join) {
    if (count <= most && atoms.count() <= most) return;
    const auto [entry, fresh] = shared.try_emplace(key(forest, space), Shared{space, {}, {}});
    Shared& readers = entry->second;
    if (fresh) {
      Found edges;
      edges.begin(readers.before);
      each_users(forest, space, [&](Users& of) {
        of.is_shared = true;
        of.wait({}, nobody, edges);
      });
    }
    if (readers.before.size() <= most || (fresh && count < 2)) return;
    Hazard why = Hazard::none;
    for (const Edge& edge : readers.before) why = why == Hazard::none ? edge.why : std::min(why, edge.why);
    readers.before = {{join(readers.before), why}};
  }

  void part(const RegionForest& forest, std::size_t most, FieldUsers::Join join) {
    std::vector<Edge> all;
    for (auto& [key, readers] : shared) {
      if (readers.users.size() > most) {
        all.clear();
        for (const User user : readers.users) all.push_back({user, Hazard::war});
        readers.users = {join(all)};
      }
      each_users(forest, readers.space, [&](Users& of) {
        of.is_shared = false;
        for (const User user : readers.users) of.enter(user, {});
      });
    }
    shared.clear();
  }

  // Atoms that are hardly asked for any more are not worth their place, nor lists of pieces that are no more.
  bool is_worn() const { return (atoms.count() > 1024 && atoms.count() > 16 * added) || atoms.is_worn(); }

 private:
  static constexpr User nobody = UINT32_MAX;

  static std::pair<std::uint32_t, std::int64_t> key(const RegionForest& forest, const Space& space) {
    if (!space.partition.valid()) return {space.partition.value, 0};
    return {space.partition.value, forest[space.partition].colours.linear(space.colour)};
  }

  template <class Visit>
  void each_users(const RegionForest& forest, const Space& space, Visit visit) {
    auto split = [&](Atoms::Atom from, Atoms::Atom) {
      Users same = users[from];
      users.push_back(std::move(same));
    };
    for (const Atoms::Atom atom : atoms.of(forest, space, split)) {
      Users& of = users[atom];
      if (of.epoch != epoch) {
        of.epoch = epoch;
        of.is_shared = false;
        of.last.clear();
        of.before.clear();
      }
      visit(of);
    }
  }

  // Whether it is one of the readers. Who changes what others read was not announced: then there are no joins.
  bool take_shared(const RegionForest& forest, User user, const Space& space, Need need, Found& edges) {
    if (need.privilege == Privilege::in) {
      const auto readers = shared.find(key(forest, space));
      if (readers == shared.end()) return false;
      for (const Edge& edge : readers->second.before) edges.add(edge.user, edge.why);
      std::vector<User>& users = readers->second.users;
      if (users.empty() || users.back() != user) users.push_back(user);
      return true;
    }
    bool meets = false;
    each_users(forest, space, [&](const Users& of) { meets = meets || of.is_shared; });
    if (meets) part(forest, SIZE_MAX, [](std::span<const Edge>) { return nobody; });
    return false;
  }
};

}  // namespace users

struct FieldUsers::Lanes {
  std::vector<std::vector<std::optional<users::Lane>>> of;  // by region and field
  std::uint32_t epoch = 0;                                  // how often all users were forgotten
  users::Found found;

  // The lanes of the fields that are accessed.
  template <class Visit>
  void each(const RegionForest& forest, const Access& access, Visit visit) {
    const std::size_t region = access.space.root.index();
    if (of.size() <= region) of.resize(region + 1);
    auto& lanes = of[region];
    access.fields.each([&](std::uint32_t field) {
      if (lanes.size() <= field) lanes.resize(field + 1);
      std::optional<users::Lane>& lane = lanes[field];
      if (lane && lane->epoch != epoch && lane->is_worn()) lane.reset();
      if (!lane) lane.emplace(forest.root(access.space));
      lane->begin(epoch);
      visit(*lane);
    });
  }
};

FieldUsers::FieldUsers() : lanes_(std::make_unique<Lanes>()) {}
FieldUsers::FieldUsers(FieldUsers&&) noexcept = default;
FieldUsers& FieldUsers::operator=(FieldUsers&&) noexcept = default;
FieldUsers::~FieldUsers() = default;

void FieldUsers::add(const RegionForest& forest, User user, const Access& access, std::vector<Edge>& before) {
  lanes_->found.begin(before);
  lanes_->each(forest, access, [&](users::Lane& lane) {
    lane.add(forest, user, access.space, {access.privilege, access.op}, lanes_->found);
  });
}

void FieldUsers::share(const RegionForest& forest, const Access& access, std::size_t readers, std::size_t most,
                       Join join) {
  lanes_->each(forest, access, [&](users::Lane& lane) { lane.share(forest, access.space, readers, most, join); });
}

void FieldUsers::part(const RegionForest& forest, RegionId region, const FieldMask& fields, std::size_t most,
                      Join join) {
  if (region.index() >= lanes_->of.size()) return;
  auto& lanes = lanes_->of[region.index()];
  fields.each([&](std::uint32_t field) {
    if (field < lanes.size() && lanes[field] && lanes[field]->epoch == lanes_->epoch)
      lanes[field]->part(forest, most, join);
  });
}

void FieldUsers::forget() { ++lanes_->epoch; }

void FieldUsers::forget(RegionId region) {
  if (region.index() < lanes_->of.size()) lanes_->of[region.index()].clear();
}

void FieldUsers::forget(RegionId region, PartitionId partition) {
  if (region.index() >= lanes_->of.size()) return;
  for (auto& lane : lanes_->of[region.index()])
    if (lane) lane->atoms.forget(partition);
}

std::size_t FieldUsers::atoms() const {
  std::size_t count = 0;
  for (const auto& lanes : lanes_->of)
    for (const auto& lane : lanes)
      if (lane) count += lane->atoms.count();
  return count;
}

std::size_t FieldUsers::bytes() const {
  std::size_t bytes = 0;
  for (const auto& lanes : lanes_->of)
    for (const auto& lane : lanes) {
      if (!lane) continue;
      bytes += lane->atoms.bytes() + lane->users.capacity() * sizeof(users::Users);
      for (const users::Users& of : lane->users) bytes += of.last.bytes() + of.before.bytes();
    }
  return bytes;
}

}  // namespace taskspec
