// Theorem 1 on the engine itself: whatever the delays and the sharding, the shards together find the graph that one
// analysis of all points finds, and at every step what is found stands on what is there. Planted faults are seen.
#include <doctest/doctest.h>

#include <algorithm>

#include "interp/shards/analysis/elision.hpp"
#include "ir/region/piece_form.hpp"
#include "tests/shards/exact_judge.hpp"
#include "tests/shards/networks.hpp"
#include "tests/shards/random_programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::theorem_test {

namespace {

struct Plan {
  CoarseStage::Elides elides = CoarseStage::elides;
  std::function<void(const Operation&, CoarseResult&)> found{};
  std::function<Operation(const Operation&, std::size_t shard)> replica{};  // what a shard takes an operation for
  CoarseStage::Elides more{};
};

// All shards in turns, behind transports that delay and reorder.
JudgedOutcome run(GrownForest& grown, const std::vector<Operation>& ops, std::size_t shards, std::uint64_t seed,
                  const Plan& plan) {
  const Exact exact = exact_graph(grown.forest, ops);
  TurnNetwork network(shards, seed, 8);
  Graph graph;
  std::vector<std::unique_ptr<Judge>> judges;
  std::vector<std::unique_ptr<AnalysisEngine>> engines;
  std::vector<std::size_t> issued(shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    judges.push_back(std::make_unique<Judge>(graph, shard));
    engines.push_back(std::make_unique<AnalysisEngine>(
        grown.forest, network.at(shard), *judges.back(),
        AnalysisEngine::Options{.elides = plan.elides, .more = plan.more, .coarse_in_a_turn = 2, .found = plan.found}));
  }
  auto turn = [&](std::size_t shard) {
    if (issued[shard] < ops.size() && network.random()() % 3) {
      const Operation& op = ops[issued[shard]++];
      engines[shard]->issue(plan.replica ? plan.replica(op, shard) : op);
    }
    (void)engines[shard]->turn();
  };
  auto done = [&] {
    for (std::size_t shard = 0; shard < shards; ++shard)
      if (issued[shard] < ops.size() || !engines[shard]->is_idle()) return false;
    return true;
  };
  JudgedOutcome& outcome = graph.outcome;
  outcome.hung = !network.run_until(done, turn);
  judge_union(exact, graph);
  for (const auto& engine : engines) outcome.steps.push_back(engine->fine().counts().steps);
  outcome.spared = engines[0]->coarse().counts().elided_more;
  return outcome;
}

struct Case {
  explicit Case(std::uint64_t seed) : grown(seed), shards(1 + seed % 5) {
    for (int i = 0; i < 6; ++i) grown.grow();
    if (!grown.nodes.empty()) ops = random_program(grown, 14);
  }
  GrownForest grown;
  std::size_t shards;
  std::vector<Operation> ops;
};

// How many of some programs go wrong with a fault planted.
std::size_t caught(const Plan& plan, std::uint64_t programs = 150) {
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Case c(seed);
    c.shards = 2 + seed % 3;
    count += !run(c.grown, c.ops, c.shards, seed, plan).is_right();
  }
  return count;
}

// As caught(), of programs with relatives, by what else is said to be local.
std::size_t caught_by(const CoarseStage::Elides& more, std::uint64_t programs) {
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Case c(seed);
    if (c.ops.empty()) continue;
    make_relatives(c.grown, c.ops);
    count += !run(c.grown, c.ops, 2 + seed % 3, seed, {.more = more}).is_right();
  }
  return count;
}

// Planted faults of elides_more: each asks it about launches that are the same but for one thing.
UseKey with_first_colour_of(const UseKey& a, const UseKey& b) {
  UseKey made = a;
  made.domain = b.domain;
  made.use.projection = b.use.projection;
  return made;
}
bool any_projection(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  return a.domain.size() == b.domain.size() && elides_more(forest, with_first_colour_of(a, b), b);
}
bool any_extent(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  UseKey made = a;
  if (made.domain.rank == b.domain.rank) made.domain = b.domain;
  return a.use.projection == b.use.projection && elides_more(forest, made, b);
}
bool any_other_sharding(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  UseKey made = a;
  made.sharding = b.sharding;
  return elides_more(forest, made, b);
}
// Pieces that lie in those of two partitions are counted to either: what replaced one need not meet the other.
bool lies_in(const RegionForest& forest, PartitionId partition, PartitionId in) {
  if (partition == in) return true;
  const PieceForm& form = *forest[partition].form;
  bool found = false;
  if (form.within().valid())
    form.each_operand([&](PartitionId operand) {
      found = found || (forest[operand].colours == forest[partition].colours && lies_in(forest, operand, in));
    });
  return found;
}
bool any_partition_around(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  if (!a.use.partition.valid() || !b.use.partition.valid()) return false;
  UseKey same = a;
  same.use.partition = b.use.partition;
  if (!elides_more(forest, same, b)) return false;
  return lies_in(forest, a.use.partition, b.use.partition) || lies_in(forest, b.use.partition, a.use.partition);
}
bool without_disjoint_around(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  if (!a.use.partition.valid() || !b.use.partition.valid() || !(a.sharding == b.sharding)) return false;
  return a.domain == b.domain && a.use.projection == b.use.projection && b.use.projection.injective(b.domain) &&
         (lies_in(forest, a.use.partition, b.use.partition) || lies_in(forest, b.use.partition, a.use.partition));
}

// As if names were enough: the projection need not be injective, or the partition not disjoint.
bool names_only(const RegionForest&, const UseKey& a, const UseKey& b) { return a.is_alike(b); }
bool without_injective(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  return a.is_alike(b) && (!a.use.partition.valid() || forest.disjoint(a.use.partition));
}
bool without_disjoint(const RegionForest&, const UseKey& a, const UseKey& b) {
  return a.is_alike(b) && a.use.partition.valid() && a.use.projection.injective(a.domain);
}
bool without_sharding(const RegionForest& forest, const UseKey& a, const UseKey& b) {
  UseKey same = a;
  same.sharding = b.sharding;
  same.hash = b.hash;
  return same.is_alike(b) && is_point_by_point(forest, b);
}

}  // namespace

TEST_CASE("[theorem1] the shards together find the exact graph, and every step on the way is valid") {
  std::size_t edges = 0, across = 0;
  for (const std::uint64_t seed : random_seeds(400, 20'000)) {
    CAPTURE(seed);
    Case c(seed);
    const JudgedOutcome outcome = run(c.grown, c.ops, c.shards, seed, {});
    CHECK_FALSE(outcome.hung);
    CHECK(outcome.invalid_steps == 0);
    CHECK(outcome.out_of_time == 0);
    CHECK(outcome.missing == 0);
    CHECK(outcome.unordered == 0);
    CHECK(outcome.untrue == 0);
    edges += exact_graph(c.grown.forest, c.ops).edges.size();
    across += outcome.across;
  }
  CHECK(edges > 1000);
  CHECK(across > 300);
}

TEST_CASE("[theorem1] planted faults are seen") {
  CHECK(caught({}) == 0);
  CHECK(caught({.elides = [](auto&, auto&, auto&) { return true; }}) > 10);
  CHECK(caught({.elides = names_only}) > 1);
  CHECK(caught({.elides = without_injective}) > 0);
  CHECK(caught({.elides = without_disjoint}) > 0);
  CHECK(caught({.elides = without_sharding}) > 0);
  // An operation that does not wait for the fences in its lists.
  CHECK(caught({.found = [](const Operation&, CoarseResult& found) { found.fences.clear(); }}) > 10);
  // A fence that arrives before the local fine stages it stands for.
  CHECK(caught({.found = [](const Operation&, CoarseResult& found) { found.arrives_after.clear(); }}) > 1);
  // An operation that does not wait for the older ones of its own shard.
  CHECK(caught({.found = [](const Operation&, CoarseResult& found) { found.local.clear(); }}) > 1);
  // A sharding that is no function: each shard thinks itself the owner, or nobody.
  auto mine = [](const Operation& op, std::size_t shard) {
    Operation replica = op;
    if (op.number % 3 == 0)
      replica.sharding = PointSharding::of(
          [shard](std::int64_t point, std::int64_t, std::int64_t shards) {
            return (point + static_cast<std::int64_t>(shard)) % shards;
          },
          {1, 1});
    return replica;
  };
  CHECK(caught({.replica = mine}) > 10);
}

TEST_CASE("[theorem1] [elision-prop] what further proofs spare leaves nothing out of order") {
  std::size_t spared = 0, edges = 0;
  for (const std::uint64_t seed : random_seeds(400, 20'000)) {
    CAPTURE(seed);
    Case c(seed);
    if (c.ops.empty()) continue;
    make_relatives(c.grown, c.ops);
    const JudgedOutcome outcome = run(c.grown, c.ops, c.shards, seed, {.more = elides_more});
    CHECK(outcome.is_right());
    CHECK(outcome.unordered == 0);
    spared += outcome.spared;
    edges += exact_graph(c.grown.forest, c.ops).edges.size();
  }
  CHECK(spared > 50);
  CHECK(edges > 1000);
}

TEST_CASE("[theorem1] [elision-prop] faults planted in further proofs are seen") {
  CHECK(caught_by(elides_more, 300) == 0);
  CHECK(caught_by(any_projection, 300) > 0);
  CHECK(caught_by(any_extent, 300) > 0);
  CHECK(caught_by(any_other_sharding, 300) > 0);
  CHECK(caught_by(without_disjoint_around, 300) > 0);
}

// Quarters, quarters of what is left without both ends, and between them what is in both: a launch over that one stays
// on its shard behind the first and before the third, which do not. Who had it stand for the first in the eyes of the
// third would miss something.
TEST_CASE("[theorem1] [elision-prop] pieces that lie in those of two partitions are counted to one of them") {
  std::size_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GrownForest grown(1);
    const RegionId r = grown.forest.add({"R", "r", Rect::of({16}), {{"a", Precision::f64}}});
    const PartitionId first = blocks(grown.forest, {r}, Point::of(4)),
                      further = blocks(grown.forest, shrink(grown.forest, {r}, 2), Point::of(4));
    OperationList program;
    for (const PartitionId partition : {first, intersect(grown.forest, first, further), further})
      program.launch(Rect::of({4}), PointSharding::block(), {use(grown.forest, partition, {0}, Privilege::inout)});
    const auto with = [&](const CoarseStage::Elides& more) { return run(grown, program.ops, 4, seed, {.more = more}); };
    CHECK(with(elides_more).is_right());
    CHECK(with(elides_more).spared == 1);
    wrong += !with(any_partition_around).is_right();
  }
  CHECK(wrong > 0);
}

TEST_CASE("[theorem1] a group with dependent members is refused before it comes here") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({8}), {{"a", Precision::f64}}});
  LaunchUse write = use(forest, blocks(forest, {r}, Point::of(4)), {0}, Privilege::inout);
  write.projection = Projection::affine(1, 1, {}, {});
  const auto found = conflict(forest, Rect::of({2}), {&write, 1});
  REQUIRE(found);
  CHECK(diagnostic(forest, {&write, 1}, *found, {}).code.text() == "E3101");
}

TEST_CASE("[theorem1] no shard analyses for others") {
  for (const std::uint64_t seed : random_seeds(50, 500)) {
    Case c(seed);
    c.shards = 4;
    for (Operation& op : c.ops) op.sharding = PointSharding::block();
    const JudgedOutcome outcome = run(c.grown, c.ops, c.shards, seed, {});
    std::uint64_t all = 0, own = 0;
    for (const Operation& op : c.ops) {
      all += static_cast<std::uint64_t>(op.domain.size());
      own += static_cast<std::uint64_t>((op.domain.size() + 3) / 4);
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t steps : outcome.steps) {
      sum += steps;
      CHECK(steps <= own);
    }
    CHECK(sum == all);
  }
}

namespace {

// Edges and own points as a message to the judge.
class Notes final : public Executor {
 public:
  void found(const Operation& op, const FineResult& result, std::uint64_t time) override {
    ByteWriter out(bytes);
    out.put(op.number).put(time).put(result.own.size()).put(result.edges.size());
    for (const std::int64_t point : result.own) out.put(point);
    for (const PointEdge& edge : result.edges) out.put(edge.from.op).put(edge.from.point).put(edge.to.point);
  }
  Bytes bytes;
};

struct Noted {
  std::size_t shard;
  std::uint64_t op, time;
  FineResult result;
};

void read_notes(ByteView bytes, std::size_t shard, std::vector<Noted>& into) {
  ByteReader in(bytes);
  while (in.left() > 0) {
    Noted noted{shard, in.get<std::uint64_t>(), in.get<std::uint64_t>(), {}};
    const auto own = in.get<std::size_t>(), edges = in.get<std::size_t>();
    for (std::size_t i = 0; i < own; ++i) noted.result.own.push_back(in.get<std::int64_t>());
    for (std::size_t i = 0; i < edges; ++i) {
      const LaunchPoint from{in.get<std::uint64_t>(), in.get<std::int64_t>()};
      noted.result.edges.push_back({from, {noted.op, in.get<std::int64_t>()}, {}});
    }
    into.push_back(std::move(noted));
  }
  CHECK(in.ok());
}

}  // namespace

TEST_CASE("[theorem1] the same by threads and by processes, each with its own forest") {
  for (const std::uint64_t seed : random_seeds(20, 300)) {
    CAPTURE(seed);
    const std::size_t shards = 2 + seed % 7;
    auto run_shard = [&](Transport& transport) {
      Case own(seed);
      Collectives collectives(transport);
      Notes notes;
      AnalysisEngine engine(own.grown.forest, collectives, notes);
      for (const Operation& op : own.ops) engine.issue(op);
      bool has_left = false, all_left = false;
      while (!all_left) {
        if (!engine.turn()) transport.wait(1'000'000'000);
        if (engine.is_idle() && !std::exchange(has_left, true))
          collectives.barrier({Purpose::check, 1}, [&] { all_left = true; });
      }
      return notes.bytes;
    };
    Case c(seed);
    const Exact exact = exact_graph(c.grown.forest, c.ops);
    for (const bool by_processes : {false, true}) {
      const std::vector<Bytes> results =
          by_processes ? run_processes(shards, seed, run_shard) : run_hostile(shards, seed, run_shard);
      std::vector<Noted> all;
      for (std::size_t shard = 0; shard < shards; ++shard) read_notes(results[shard], shard, all);
      // Lamport's order is one in which every step is valid.
      std::stable_sort(all.begin(), all.end(), [](const Noted& a, const Noted& b) { return a.time < b.time; });
      Graph graph;
      for (const Noted& noted : all) graph.add(noted.op, noted.shard, noted.result, noted.time);
      judge_union(exact, graph);
      CHECK(graph.outcome.is_right());
    }
  }
}

}  // namespace taskspec::theorem_test
