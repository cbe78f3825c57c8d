// Whether points of a launch are in one another's way, found by shards that each look at their share of them: what they
// find is what one finds who looks at all, and nobody looks at more for there being more shards.
#include "ir/region/shared_independence.hpp"

#include "ir/region/operators.hpp"
#include "tests/shards/member.hpp"
#include "tests/shards/networks.hpp"
#include "tests/shards/random_programs.hpp"

namespace taskspec::shared_independence_test {
namespace {

// The text of what is found, to be compared.
std::string found(const RegionForest& forest, const Operation& op) {
  const std::optional<Conflict> conflict = taskspec::conflict(forest, op.domain, op.uses);
  return conflict ? diagnostic(forest, op.uses, *conflict, {}).message : std::string();
}

// Of the same partitions, which may have other numbers where they are shared out.
Operation there(Operation op, const GrownForest& whole, const GrownForest& grown) {
  const auto become = [&](PartitionId& id) {
    for (std::size_t k = 0; k < whole.nodes.size() && id.valid(); ++k)
      if (whole.nodes[k].id == id) return void(id = grown.nodes[k].id);
  };
  for (LaunchUse& use : op.uses) become(use.partition), become(use.space.partition);
  return op;
}

// Launches that are independent, and then other ones over the same pieces, which may not be.
Bytes looks(Transport& transport, std::uint64_t seed) {
  Member member(transport);
  GrownForest whole(seed), grown(seed);
  grown.forest.share(member.pieces);
  for (int i = 0; i < 10; ++i) whole.grow(), grown.grow();
  std::uint64_t faults = 0, conflicts = 0, independent = 0;
  if (whole.nodes.empty() || whole.nodes.size() != grown.nodes.size()) return numbers_of({0, 0, 0});
  std::vector<Operation> ops = random_program(whole, 12);
  for (Operation& op : ops) {
    for (int again = 0; again < 3; ++again) {
      const std::string one = found(whole.forest, op), all = found(grown.forest, there(op, whole, grown));
      faults += one != all;
      one.empty() ? ++independent : ++conflicts;
      for (LaunchUse& use : op.uses) choose(whole, use);
      if (op.uses.size() > 3) continue;
      LaunchUse more = op.uses[whole.pick(op.uses.size())];
      choose(whole, more);
      const GrownPartition& node = whole.nodes[whole.pick(whole.nodes.size())];
      const Rect& colours = whole.forest[node.id].colours;
      if (colours.rank == op.domain.rank && colours.contains(op.domain)) {
        more.space = {whole.forest[node.id].parent.root};
        more.partition = node.id;
        more.projection = Projection::identity(colours.rank);
      }
      op.uses.push_back(more);
    }
  }
  member.meet();
  return numbers_of({faults, conflicts, independent});
}

}  // namespace

TEST_CASE("[independence] shards that look at their shares find the conflict that one finds who looks at all points") {
  std::uint64_t conflicts = 0, independent = 0;
  for (const std::uint64_t seed : random_seeds(150, 3000)) {
    CAPTURE(seed);
    auto run = [&](Transport& transport) { return looks(transport, seed); };
    const std::size_t shards = 2 + seed % 6;
    for (const Bytes& one : seed % 5 == 0 ? run_hostile(shards, seed, run) : run_in_threads(shards, run)) {
      ByteReader in(one);
      CHECK(in.get<std::uint64_t>() == 0);
      conflicts += in.get<std::uint64_t>();
      independent += in.get<std::uint64_t>();
    }
  }
  CHECK(conflicts > 1000);
  CHECK(independent > 1000);
}

TEST_CASE("[independence] who looks at another launch than the others is not taken for one of them") {
  // Their calls differ, which others find: nobody fails here, or tells of points that are in nobody's way.
  for (const Bytes& one : run_in_threads(3, [](Transport& transport) {
         Member member(transport);
         RegionForest forest;
         const RegionId r = forest.add({"R", "r", Rect::of({24}), std::vector<RegionField>(1)});
         forest.share(member.pieces);
         const std::vector<std::vector<Run>> front{{{0, 4}}, {{8, 12}}, {{16, 20}}},
             back{{{4, 8}}, {{12, 16}}, {{20, 24}}};
         const PartitionId first = cover(forest, {r}, front), second = cover(forest, {r}, back);
         Operation op{.domain = Rect::of({3}),
                      .uses = {use(forest, first, {0}, Privilege::inout), use(forest, second, {0}, Privilege::in)}};
         if (member.self() == 1) {  // the others' second use meets its first one, at another point
           std::swap(op.uses[0], op.uses[1]);
           op.uses[0].privilege = Privilege::inout;
           op.uses[0].projection = Projection::of(
               1, 1, [](const Point& p) { return Point::of((p.at[0] + 1) % 3); }, 1);
         }
         const UsePairs pairs{{{0, 1}}, {}};
         const bool fails = check_together(forest, op.domain, op.uses, pairs, *member.pieces).has_conflict;
         // Or makes a partition where the others look at a launch.
         if (member.self() == 1)
           cover(forest, {r}, back);
         else
           (void)check_together(forest, op.domain, op.uses, pairs, *member.pieces);
         member.meet();
         return numbers_of({fails});
       }))
    CHECK(ByteReader(one).get<std::uint64_t>() == 0);
}

TEST_CASE("[independence] what a shard looks at is flat in the number of shards") {
  // Each point writes the first half of its elements and reads what neighbours have of the second halves: no formula
  // says that these do not meet.
  constexpr std::int64_t own = 64, piece = 8;
  std::size_t of_two = 0;
  for (const std::size_t shards : {2, 4, 8, 16}) {
    CAPTURE(shards);
    const std::int64_t points = own * static_cast<std::int64_t>(shards), elements = points * piece;
    const auto results = run_in_threads(shards, [&](Transport& transport) {
      Member member(transport);
      RegionForest forest;
      const RegionId r = forest.add({"R", "r", Rect::of({elements}), std::vector<RegionField>(1)});
      forest.share(member.pieces);
      std::vector<std::vector<Run>> first, second;
      for (std::int64_t i = 0; i < points; ++i) {
        first.push_back({{i * piece, i * piece + piece / 2}});
        second.emplace_back();
        for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j < std::min(i + 2, points); ++j)
          second.back().push_back({j * piece + piece / 2, j * piece + piece});
      }
      const Operation op{.domain = Rect::of({points}),
                         .uses = {use(forest, cover(forest, {r}, first), {0}, Privilege::inout),
                                  use(forest, cover(forest, {r}, second), {0}, Privilege::in)}};
      const UsePairs pairs{{{0, 1}}, {{0, 1}}};
      const SharedVerdict verdict = check_together(forest, op.domain, op.uses, pairs, *member.pieces);
      LaunchUse wider = op.uses[1];
      wider.privilege = Privilege::out;
      const bool overlaps =
          check_together(forest, op.domain, std::array{op.uses[0], wider}, {{{1, 1}}, {}}, *member.pieces).has_conflict;
      member.meet();
      return numbers_of({verdict.has_conflict, overlaps, verdict.looked_at});
    });
    std::size_t most = 0;
    for (const Bytes& one : results) {
      ByteReader in(one);
      CHECK(in.get<std::uint64_t>() == 0);
      CHECK(in.get<std::uint64_t>() == 1);
      most = std::max(most, in.get<std::uint64_t>());
    }
    if (shards == 2) of_two = most;
    CHECK(most <= of_two + 8);
    CHECK(most >= 4 * own);
  }
}

}  // namespace taskspec::shared_independence_test
