#include "ir/region/users.hpp"

#include <algorithm>
#include <optional>

#include "ir/region/atoms.hpp"
#include "ir/region/user_list.hpp"

namespace taskspec {
namespace {

using Edge = FieldUsers::Edge;
using User = FieldUsers::User;

// Beyond so many, whom a user waits for is sorted at the end instead of searched each time.
constexpr std::size_t most_searched = 32;

struct Need {
  Privilege privilege = Privilege::in;
  ReduceOp op = ReduceOp::sum;
};

void enter(std::vector<Edge>& before, User user, Hazard why) {
  if (before.size() <= most_searched)
    for (Edge& edge : before)
      if (edge.user == user) {
        edge.why = std::min(edge.why, why);
        return;
      }
  before.push_back({user, why});
}

void enter_once(std::vector<Edge>& before) {
  std::sort(before.begin(), before.end(),
            [](const Edge& a, const Edge& b) { return a.user != b.user ? a.user < b.user : a.why < b.why; });
  before.erase(std::unique(before.begin(), before.end(), [](const Edge& a, const Edge& b) { return a.user == b.user; }),
               before.end());
}

// The users of an atom: the last ones that commute with one another, and those before. Each of the last waits for all
// of those before, so nobody else needs to be remembered: who waits for one of the last waits for everybody.
struct Users {
  std::uint32_t epoch = 0;  // an older one than the lane's: nobody is there
  Need need, need_before;
  UserList last, before;

  void add(User user, Need now, std::vector<Edge>& edges) {
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
  static void wait(const UserList& users, Hazard why, User user, std::vector<Edge>& edges) {
    for (const User earlier : users.all())
      if (earlier != user) enter(edges, earlier, why);
  }
};

// One field of one region.
struct Lane {
  Atoms atoms;
  std::vector<Users> users;  // by atom
  std::uint32_t epoch = 0;
  std::size_t added = 0;  // since the users were forgotten

  explicit Lane(const Rect& root) : atoms(root), users(1) {}

  void add(const RegionForest& forest, User user, const Space& space, Need need, std::vector<Edge>& edges) {
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

}  // namespace

struct FieldUsers::Lanes {
  std::vector<std::vector<std::optional<Lane>>> of;  // by region and field
};

FieldUsers::FieldUsers() : lanes_(std::make_unique<Lanes>()) {}
FieldUsers::FieldUsers(FieldUsers&&) noexcept = default;
FieldUsers& FieldUsers::operator=(FieldUsers&&) noexcept = default;
FieldUsers::~FieldUsers() = default;

void FieldUsers::add(const RegionForest& forest, User user, const Access& access, std::vector<Edge>& before) {
  const std::size_t region = access.space.root.index();
  if (lanes_->of.size() <= region) lanes_->of.resize(region + 1);
  auto& lanes = lanes_->of[region];
  access.fields.each([&](std::uint32_t field) {
    if (lanes.size() <= field) lanes.resize(field + 1);
    if (!lanes[field]) lanes[field].emplace(forest.root(access.space));
    lanes[field]->add(forest, user, access.space, {access.privilege, access.op}, before);
  });
  if (before.size() > most_searched) enter_once(before);
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
      bytes += lane->atoms.bytes() + lane->users.capacity() * sizeof(Users);
      for (const Users& users : lane->users) bytes += users.last.bytes() + users.before.bytes();
    }
  return bytes;
}

}  // namespace taskspec
