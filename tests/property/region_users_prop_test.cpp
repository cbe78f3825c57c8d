// Random programs of users against brute force over points: who must wait for whom, and which launches are independent.
// Faults planted in what is compared must be seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "ir/region/independence.hpp"
#include "ir/region/users.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/random_regions.hpp"

namespace taskspec::region_users_prop_test {

namespace {

struct Use {
  Access access;
  PointSet points;
};
using UseProgram = std::vector<std::vector<Use>>;  // by user
using Edges = std::map<std::pair<std::uint32_t, std::uint32_t>, Hazard>;

bool clash(const Use& a, const Use& b) {
  return a.access.space.root == b.access.space.root && a.access.fields.meets(b.access.fields) &&
         hazard(a.access.privilege, a.access.op, b.access.privilege, b.access.op) != Hazard::none &&
         !both(a.points, b.points).empty();
}

UseProgram random_program(GrownForest& grown, std::size_t users) {
  UseProgram program;
  while (program.size() < users) {
    std::vector<Use> uses;
    for (std::int64_t k = grown.number(1, 2); k > 0; --k) {
      const auto& [space, points] = grown.spaces[grown.pick(grown.spaces.size())];
      FieldMask fields;
      for (const std::uint32_t field : {0u, 1u})
        if (grown.number(0, 2) > 0) fields.add(field);
      const auto privilege = static_cast<Privilege>(grown.number(0, 3));
      uses.push_back({{space, fields, privilege, static_cast<ReduceOp>(grown.number(0, 1))}, points});
    }
    if (uses.size() == 1 || !clash(uses[0], uses[1])) program.push_back(uses);  // else E1403
  }
  return program;
}

// Point by point the pairs that interfere, without those that others of that point imply.
Edges brute_force(const UseProgram& program, std::uint32_t forgotten) {
  struct Took {
    std::uint32_t user;
    Privilege privilege;
    ReduceOp op;
    std::set<std::size_t> waits_for;  // directly or not, of those at this point
  };
  std::map<std::tuple<std::size_t, std::uint32_t, std::int64_t>, std::vector<Took>> took;
  Edges edges;
  for (std::uint32_t user = 0; user < program.size(); ++user)
    for (const Use& use : program[user])
      use.access.fields.each([&](std::uint32_t field) {
        for (const std::int64_t point : use.points) {
          std::vector<Took>& before = took[{use.access.space.root.index(), field, point}];
          Took now{user, use.access.privilege, use.access.op, {}};
          for (std::size_t i = before.size(); i-- > 0;) {
            const Hazard why = hazard(before[i].privilege, before[i].op, now.privilege, now.op);
            if (why == Hazard::none || before[i].user == user || now.waits_for.contains(i)) continue;
            now.waits_for.insert(i);
            now.waits_for.insert(before[i].waits_for.begin(), before[i].waits_for.end());
            if (before[i].user < forgotten) continue;
            Hazard& told = edges.try_emplace({before[i].user, user}, why).first->second;
            told = std::min(told, why);
          }
          before.push_back(now);
        }
      });
  return edges;
}

Edges found(const RegionForest& forest, const UseProgram& program, std::uint32_t forgotten) {
  FieldUsers users;
  Edges edges;
  for (std::uint32_t user = 0; user < program.size(); ++user) {
    if (user == forgotten) users.forget();
    std::vector<FieldUsers::Edge> before;
    for (const Use& use : program[user]) users.add(forest, user, use.access, before);
    for (const FieldUsers::Edge& edge : before) {
      CHECK(edge.user < user);
      CHECK(edges.emplace(std::pair(edge.user, user), edge.why).second);  // each once
    }
  }
  return edges;
}

// Whom each user must wait for, directly or through others.
std::vector<std::vector<bool>> closure(const Edges& edges, std::size_t users) {
  std::vector<std::vector<bool>> reach(users, std::vector<bool>(users));
  std::vector<std::vector<std::uint32_t>> before(users);
  for (const auto& [pair, why] : edges) before[pair.second].push_back(pair.first);
  for (std::size_t user = 0; user < users; ++user)
    for (const std::uint32_t earlier : before[user]) {
      reach[user][earlier] = true;
      for (std::size_t i = 0; i < earlier; ++i)
        if (reach[earlier][i]) reach[user][i] = true;
    }
  return reach;
}

// Every pair that interferes is ordered, and every edge is such a pair.
bool orders(const UseProgram& program, const Edges& edges) {
  const auto reach = closure(edges, program.size());
  for (std::size_t later = 0; later < program.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      bool clashes = false;
      for (const Use& a : program[earlier])
        for (const Use& b : program[later]) clashes = clashes || clash(a, b);
      if (clashes && !reach[later][earlier]) return false;
      const auto pair = std::pair(static_cast<std::uint32_t>(earlier), static_cast<std::uint32_t>(later));
      if (!clashes && edges.contains(pair)) return false;
    }
  return true;
}

UseProgram all_fields(UseProgram program) {
  for (auto& uses : program)
    for (Use& use : uses) use.access.fields = FieldMask::of({0, 1});
  return program;
}

Edges without_war(Edges edges) {
  std::erase_if(edges, [](const auto& edge) { return edge.second == Hazard::war; });
  return edges;
}

// As if contributions of different operators, or written and read values, commuted.
UseProgram with(UseProgram program, Privilege from, Privilege to) {
  for (auto& uses : program)
    for (Use& use : uses)
      if (use.access.privilege == from) use.access.privilege = to;
  return program;
}

}  // namespace

TEST_CASE("[privileges] direct predecessors are those of brute force over points") {
  std::size_t count = 0, fields_ignored = 0, war_dropped = 0, out_reads = 0, reduce_reads = 0;
  for (const std::uint64_t seed : random_seeds(150, 10'000)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 6; ++i) grown.grow();
    const UseProgram program = random_program(grown, 24);
    const Edges edges = found(grown.forest, program, UINT32_MAX);
    CHECK(edges == brute_force(program, 0));
    CHECK(orders(program, edges));
    CHECK(found(grown.forest, program, 12) == [&] {
      Edges later = brute_force(program, 12);
      std::erase_if(later, [](const auto& edge) { return edge.first.second < 12; });
      for (const auto& [pair, why] : edges)
        if (pair.second < 12) later.emplace(pair, why);
      return later;
    }());
    count += edges.size();
    fields_ignored += !orders(program, found(grown.forest, all_fields(program), UINT32_MAX));
    war_dropped += !orders(program, without_war(edges));
    out_reads += found(grown.forest, with(program, Privilege::out, Privilege::inout), UINT32_MAX) != edges;
    reduce_reads += !orders(program, found(grown.forest, with(program, Privilege::reduce, Privilege::in), UINT32_MAX));
  }
  CHECK(count > 1000);
  for (const std::size_t seen : {fields_ignored, war_dropped, out_reads, reduce_reads}) CHECK(seen > 20);
}

TEST_CASE("[privileges] the oracle says what points, fields and privileges say") {
  std::size_t clashes = 0, aliased_taken_as_disjoint = 0;
  for (const std::uint64_t seed : random_seeds(100, 2'000)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 8; ++i) grown.grow();
    const UseProgram program = random_program(grown, 12);
    auto wrong = [&] {
      std::size_t count = 0;
      for (const auto& earlier : program)
        for (const auto& later : program) {
          const bool wanted = clash(earlier[0], later[0]);
          count += interferes(grown.forest, earlier[0].access, later[0].access) != wanted;
          clashes += wanted;
        }
      return count;
    };
    CHECK(wrong() == 0);
    for (const GrownPartition& node : grown.nodes) grown.forest.claim(node.id, Claim::disjoint, false);
    aliased_taken_as_disjoint += wrong() > 0;
  }
  CHECK(clashes > 1000);
  CHECK(aliased_taken_as_disjoint > 5);
}

namespace {

// A projection into the colours, of any kind; now and then beyond them.
Projection random_projection(GrownForest& grown, const Rect& domain, const Rect& colours) {
  if (domain.rank == colours.rank && grown.number(0, 1)) return Projection::identity(domain.rank);
  if (grown.number(0, 2) == 0) {
    const std::int64_t a = grown.number(0, 5), b = grown.number(0, 5);
    auto function = [=](const Point& p) {
      Point colour{{}, colours.rank};
      for (std::size_t axis = 0; axis < colours.rank; ++axis)
        colour.at[axis] = (a * p.at[0] + b * p.at[1] + static_cast<std::int64_t>(axis)) % colours.extent(axis);
      return colour;
    };
    return Projection::of(domain.rank, colours.rank, function, static_cast<std::uint64_t>(a * 6 + b));
  }
  std::array<std::array<std::int64_t, 4>, 4> factors{};
  std::array<std::int64_t, 4> offsets{};
  for (std::size_t row = 0; row < colours.rank; ++row) {
    for (std::size_t axis = 0; axis < domain.rank; ++axis)
      factors[row][axis] = grown.number(0, 3) ? grown.number(0, 1) : grown.number(-1, 2);
    offsets[row] = grown.number(0, 1);
  }
  return Projection::affine(domain.rank, colours.rank, factors, offsets);
}

}  // namespace

TEST_CASE("[groups] a launch is independent where brute force over points says so") {
  std::size_t independent = 0, across = 0, within = 0, beyond = 0, aliased_taken_as_disjoint = 0;
  for (const std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 6; ++i) grown.grow();
    if (grown.nodes.empty()) continue;
    const Rect domain =
        grown.number(0, 2) ? Rect::of({grown.number(1, 5)}) : Rect::of({grown.number(1, 3), grown.number(1, 3)});
    std::vector<LaunchUse> uses;
    bool is_inside = true;
    for (std::int64_t k = grown.number(grown.number(0, 1), 3); k >= 0; k -= 2) {
      LaunchUse use;
      const GrownPartition& node = grown.nodes[grown.pick(grown.nodes.size())];
      use.space = {grown.forest[node.id].parent.root};
      use.partition = node.id;
      use.projection = random_projection(grown, domain, grown.forest[node.id].colours);
      use.fields = FieldMask::of({static_cast<std::uint32_t>(grown.number(0, 1))});
      use.privilege = static_cast<Privilege>(grown.number(0, 3));
      use.name = "p";
      each_point(domain, [&](const Point& p) {
        return is_inside = is_inside && grown.forest[node.id].colours.contains(use.projection(p));
      });
      uses.push_back(use);
    }
    if (!is_inside) {
      ++beyond;
      CHECK(error_of([&] { (void)conflict(grown.forest, domain, uses); }).starts_with("E5003"));
      continue;
    }
    auto points_of = [&](const LaunchUse& use, const Point& p) {
      return as_set(grown.forest.points(use.at(p)), grown.forest.root(use.space));
    };
    bool clashes_across = false, clashes_within = false;
    each_point(domain, [&](const Point& p) {
      return each_point(domain, [&](const Point& q) {
        for (std::size_t i = 0; i < uses.size(); ++i)
          for (std::size_t j = 0; j < uses.size(); ++j) {
            if (p == q && i == j) continue;
            const LaunchUse &a = uses[i], &b = uses[j];
            const Use x{{a.space, a.fields, a.privilege, a.op}, points_of(a, p)};
            const Use y{{b.space, b.fields, b.privilege, b.op}, points_of(b, q)};
            if (clash(x, y)) (p == q ? clashes_within : clashes_across) = true;
          }
        return true;
      });
    });
    const auto told = conflict(grown.forest, domain, uses);
    REQUIRE(told.has_value() == (clashes_across || clashes_within));
    if (!told) {
      ++independent;
      continue;
    }
    const Diag diag = diagnostic(grown.forest, uses, *told, {});
    CHECK(diag.code.text() == (told->within_point() ? "E1403" : "E3101"));
    CHECK((told->within_point() ? clashes_within : clashes_across));
    ++(told->within_point() ? within : across);
    const LaunchUse &a = uses[told->first_use], &b = uses[told->second_use];
    const std::int64_t shared = grown.forest.root(a.space).linear(told->shared);
    CHECK(points_of(a, told->first).contains(shared));
    CHECK(points_of(b, told->second).contains(shared));
    CHECK(hazard(a.privilege, a.op, b.privilege, b.op) != Hazard::none);
    for (const LaunchUse& use : uses) grown.forest.claim(use.partition, Claim::disjoint, false);
    aliased_taken_as_disjoint += !conflict(grown.forest, domain, uses);
  }
  CHECK(independent > 20);
  CHECK(across > 20);
  CHECK(within > 10);
  CHECK(beyond > 10);
  CHECK(aliased_taken_as_disjoint > 3);
}

namespace {

// Launches of several points, as a session tells of them: what many points read or change is announced first. Joins
// are users, too.
struct Joined {
  std::vector<std::vector<std::uint32_t>> before;  // by user
  std::vector<std::uint32_t> users;                // of each point of the program, in order
  std::size_t joins = 0, edges = 0;
};

Joined joined(const RegionForest& forest, const std::vector<UseProgram>& launches, std::size_t most) {
  FieldUsers users;
  Joined made;
  const auto join = [&](std::span<const FieldUsers::Edge> before) {
    std::vector<std::uint32_t>& all = made.before.emplace_back();
    for (const FieldUsers::Edge& edge : before) all.push_back(edge.user);
    ++made.joins;
    return static_cast<FieldUsers::User>(made.before.size() - 1);
  };
  for (const UseProgram& points : launches) {
    for (const auto& uses : points)
      for (const Use& use : uses)
        if (use.access.privilege != Privilege::in)
          users.part(forest, use.access.space.root, use.access.fields, most, join);
    for (const auto& uses : points)
      for (const Use& use : uses)
        if (use.access.privilege == Privilege::in) users.share(forest, use.access, points.size(), most, join);
    for (const auto& uses : points) {
      std::vector<FieldUsers::Edge> before;
      const auto user = static_cast<FieldUsers::User>(made.before.size());
      for (const Use& use : uses) users.add(forest, user, use.access, before);
      std::vector<std::uint32_t>& all = made.before.emplace_back();
      for (const FieldUsers::Edge& edge : before) all.push_back(edge.user);
      made.users.push_back(user);
    }
  }
  for (const auto& all : made.before) made.edges += all.size();
  return made;
}

// Pairs of points of which the later one comes behind the earlier one.
std::set<std::pair<std::size_t, std::size_t>> ordered(const Joined& made) {
  std::vector<std::set<std::uint32_t>> reach(made.before.size());
  for (std::size_t user = 0; user < made.before.size(); ++user)
    for (const std::uint32_t earlier : made.before[user]) {
      REQUIRE(earlier < user);
      reach[user].insert(earlier);
      reach[user].insert(reach[earlier].begin(), reach[earlier].end());
    }
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t later = 0; later < made.users.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (reach[made.users[later]].contains(made.users[earlier])) pairs.insert({earlier, later});
  return pairs;
}

// Launches whose points do not interfere: several of them read the same space, others take pieces each its own.
std::vector<UseProgram> random_launches(GrownForest& grown, std::size_t count) {
  std::vector<UseProgram> launches;
  while (launches.size() < count) {
    UseProgram points;
    const std::size_t most = static_cast<std::size_t>(grown.number(1, 5));
    const UseProgram some = random_program(grown, 1);
    for (const UseProgram& more = random_program(grown, most); const auto& uses : more) {
      std::vector<Use> all = grown.number(0, 1) ? some[0] : uses;
      for (Use& use : all)
        if (grown.number(0, 2) > 0) use.access.privilege = Privilege::in;
      const bool fits = std::ranges::none_of(points, [&](const std::vector<Use>& other) {
        return std::ranges::any_of(
            other, [&](const Use& a) { return std::ranges::any_of(all, [&](const Use& b) { return clash(a, b); }); });
      });
      if (fits && (all.size() == 1 || !clash(all[0], all[1]))) points.push_back(all);
    }
    launches.push_back(points);
  }
  return launches;
}

}  // namespace

TEST_CASE("[privileges] joins order what interferes, and nothing else") {
  std::size_t joins = 0;
  for (const std::uint64_t seed : random_seeds(150, 10'000)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 6; ++i) grown.grow();
    const std::vector<UseProgram> launches = random_launches(grown, 10);
    const auto one_by_one = ordered(joined(grown.forest, launches, SIZE_MAX));
    UseProgram program;
    for (const UseProgram& points : launches) program.insert(program.end(), points.begin(), points.end());
    const auto reach = closure(brute_force(program, 0), program.size());
    for (std::size_t later = 0; later < program.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        REQUIRE(one_by_one.contains({earlier, later}) == reach[later][earlier]);
    for (const std::size_t most : {0, 1, 2}) {
      const Joined made = joined(grown.forest, launches, most);
      CHECK(ordered(made) == one_by_one);
      joins += made.joins;
    }
  }
  CHECK(joins > 1000);
}

TEST_CASE("[privileges] what all points of a launch read, and others change, costs edges for their sum") {
  constexpr std::int64_t count = 1000;
  GrownForest grown(1);
  RegionForest forest;
  const RegionId region = forest.add({"Cell", "cells", Rect::of({count}), {{"a", Precision::f64}}});
  const PartitionId own = blocks(forest, {region}, Point::of(count));
  std::vector<UseProgram> launches;
  for (int turn = 0; turn < 3; ++turn) {
    UseProgram writers, readers;
    for (std::int64_t i = 0; i < count; ++i) {
      writers.push_back({{{piece(forest, own, i), FieldMask::of({0}), Privilege::inout}, {}}});
      readers.push_back({{{{region}, FieldMask::of({0}), Privilege::in}, {}}});
    }
    launches.push_back(std::move(writers));
    launches.push_back(std::move(readers));
  }
  const Joined made = joined(forest, launches, 32);
  CHECK(made.joins == 5);
  CHECK(made.edges == 10 * count);
}

}  // namespace taskspec::region_users_prop_test
