#include "ir/region/users.hpp"

#include <algorithm>
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
    before.swap(last);
    need_before = need;
    need = now;
    last.set(user);
  }

 private:
  static void wait(const UserList& users, Hazard why, User user, Found& edges) {
    for (const User earlier : users.all())
      if (earlier != user) edges.add(earlier, why);
  }
};

// One field of one region.
struct Lane {
  Atoms atoms;
  std::vector<Users> users;  // by atom
  std::uint32_t epoch = 0;
  std::size_t added = 0;  // since the users were forgotten

  explicit Lane(const Rect& root) : atoms(root), users(1) {}

  void add(const RegionForest& forest, User user, const Space& space, Need need, Found& edges) {
    ++added;
    auto split = [&](Atoms::Atom from, Atoms::Atom) {
      Users same = users[from];
      users.push_back(std::move(same));
    };
    for (const Atoms::Atom atom : atoms.of(forest, space, split)) {
      Users& of = users[atom];
      if (of.epoch != epoch) {
        of.epoch = epoch;
        of.last.clear();
        of.before.clear();
      }
      of.add(user, need, edges);
    }
  }

  // Atoms that are hardly asked for any more are not worth their place.
  bool is_worn() const { return atoms.count() > 1024 && atoms.count() > 16 * added; }
};

}  // namespace users

struct FieldUsers::Lanes {
  std::vector<std::vector<std::optional<users::Lane>>> of;  // by region and field
  users::Found found;
};

FieldUsers::FieldUsers() : lanes_(std::make_unique<Lanes>()) {}
FieldUsers::FieldUsers(FieldUsers&&) noexcept = default;
FieldUsers& FieldUsers::operator=(FieldUsers&&) noexcept = default;
FieldUsers::~FieldUsers() = default;

void FieldUsers::add(const RegionForest& forest, User user, const Access& access, std::vector<Edge>& before) {
  const std::size_t region = access.space.root.index();
  if (lanes_->of.size() <= region) lanes_->of.resize(region + 1);
  auto& lanes = lanes_->of[region];
  lanes_->found.begin(before);
  access.fields.each([&](std::uint32_t field) {
    if (lanes.size() <= field) lanes.resize(field + 1);
    if (!lanes[field]) lanes[field].emplace(forest.root(access.space));
    lanes[field]->add(forest, user, access.space, {access.privilege, access.op}, lanes_->found);
  });
}

void FieldUsers::forget() {
  for (auto& lanes : lanes_->of)
    for (auto& lane : lanes) {
      if (!lane) continue;
      if (lane->is_worn()) {
        lane.reset();
        continue;
      }
      ++lane->epoch;
      lane->added = 0;
    }
}

void FieldUsers::forget(RegionId region) {
  if (region.index() < lanes_->of.size()) lanes_->of[region.index()].clear();
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
