// The programs whose fences are known by hand, and what a fence holds back.
#include <doctest/doctest.h>

#include <map>

#include "tests/shards/networks.hpp"
#include "tests/shards/operations.hpp"
#include "tests/unit/errors.hpp"

namespace taskspec::fences_test {

namespace {

struct Counted {
  std::uint64_t fences, elided, collectives, other_fences;
  friend bool operator==(const Counted&, const Counted&) = default;
};

Counted counted(const RegionForest& forest, const OperationList& program) {
  KeyTable keys;
  CoarseStage coarse(forest, keys);
  for (const Operation& op : program.ops) (void)coarse.analyse(op);
  const auto& counts = coarse.counts();
  return {counts.fences, counts.elided, counts.collectives, counts.other_fences};
}

Region region(std::string name, Rect extents, std::size_t fields) {
  return {name, name, extents, std::vector<RegionField>(fields, {"f", Precision::f64})};
}

OperationList stencil(RegionForest& forest, const PointSharding& mul, std::int64_t cells_count = 64,
                      std::int64_t tiles = 4, int steps = 10) {
  const RegionId cells = forest.add(region("Cell", Rect::of({cells_count}), 2));
  const PartitionId owned = blocks(forest, {cells}, Point::of(tiles));
  const PartitionId interior = intersect(forest, owned, shrink(forest, {cells}, 1));
  const PartitionId ghost = halo(forest, owned, 1, HaloShape::box);
  OperationList program;
  program.fill(cells, 0);
  program.fill(cells, 1);
  const Rect domain = Rect::of({tiles});
  for (int t = 0; t < steps; ++t) {
    program.launch(domain, PointSharding::cyclic(), {use(forest, owned, {0}, Privilege::inout)});
    program.launch(domain, mul, {use(forest, interior, {1}, Privilege::inout)});
    program.launch(domain, PointSharding::cyclic(),
                   {use(forest, interior, {1}, Privilege::inout), use(forest, ghost, {0}, Privilege::in)});
  }
  return program;
}

}  // namespace

TEST_CASE("[fence-counts] the stencil of ten steps: 21 fences, 19 elided; with another sharding 40 and none") {
  RegionForest forest, other;
  CHECK(counted(forest, stencil(forest, PointSharding::cyclic())) == Counted{21, 19, 21, 0});
  CHECK(counted(other, stencil(other, PointSharding::block())) == Counted{40, 0, 30, 0});
}

TEST_CASE("[fence-counts] the stencil of two axes: 7 fences, 2 elided") {
  RegionForest forest;
  const RegionId g = forest.add(region("G", Rect::of({8, 8}), 2));
  const PartitionId own = blocks(forest, {g}, Point::of(2, 2)), ghost = halo(forest, own, 1, HaloShape::box);
  const PartitionId inner = intersect(forest, own, shrink(forest, {g}, 1));
  OperationList program;
  program.fill(g, 0);
  program.fill(g, 1);
  for (int t = 0; t < 3; ++t) {
    program.launch(Rect::of({2, 2}), PointSharding::block(),
                   {use(forest, inner, {1}, Privilege::inout), use(forest, ghost, {0}, Privilege::in)});
    program.launch(Rect::of({2, 2}), PointSharding::block(), {use(forest, own, {0}, Privilege::inout)});
  }
  CHECK(counted(forest, program) == Counted{7, 2, 6, 0});
}

TEST_CASE("[fence-counts] conjugate gradient of three iterations: 8 fences, 19 elided") {
  RegionForest forest;
  const RegionId v = forest.add(region("Vec", Rect::of({64}), 4));
  const PartitionId own = blocks(forest, {v}, Point::of(8)), ghost = halo(forest, own, 1, HaloShape::box);
  enum : std::uint32_t { x, r, p, q };
  OperationList program;
  for (const std::uint32_t field : {x, r, p}) program.fill(v, field);
  auto launch = [&](std::vector<LaunchUse> uses) {
    program.launch(Rect::of({8}), PointSharding::block(), std::move(uses));
  };
  launch({use(forest, own, {r}, Privilege::in)});
  for (int k = 0; k < 3; ++k) {
    launch({use(forest, own, {q}, Privilege::inout), use(forest, ghost, {p}, Privilege::in)});
    launch({use(forest, own, {p, q}, Privilege::in)});
    launch({use(forest, own, {x, r}, Privilege::inout), use(forest, own, {p, q}, Privilege::in)});
    launch({use(forest, own, {r}, Privilege::in)});
    launch({use(forest, own, {p}, Privilege::inout), use(forest, own, {r}, Privilege::in)});
  }
  CHECK(counted(forest, program) == Counted{8, 19, 8, 0});
}

TEST_CASE("[fence-counts] the circuit of four steps with detach: 21 fences, 7 elided, 16 collectives") {
  RegionForest forest;
  const RegionId nodes = forest.add(region("Node", Rect::of({100}), 4));
  const RegionId wires = forest.add(region("Wire", Rect::of({400}), 4));
  enum : std::uint32_t { charge, voltage, cap, piece, a = 0, b, current, ohm };
  std::vector<std::int64_t> pieces, tails, heads;
  for (std::int64_t i = 0; i < 100; ++i) pieces.push_back(i * 7 % 4);
  for (std::int64_t i = 0; i < 400; ++i) tails.push_back(i * 13 % 100), heads.push_back(i * 31 % 100);
  auto values = [](const std::vector<std::int64_t>& of) {
    return IndexValues{reinterpret_cast<const std::byte*>(of.data()), Precision::i64, "f"};
  };
  const PartitionId pn = by_field(forest, {nodes}, values(pieces), 4);
  const PartitionId pw = preimage(forest, pn, {wires}, values(tails));
  const PartitionId rn =
      unite(forest, image(forest, {nodes}, pw, values(tails)), image(forest, {nodes}, pw, values(heads)));
  OperationList program;
  program.alone(CallKind::attach, {use(nodes, {charge, voltage, cap, piece}, Privilege::out)});
  program.alone(CallKind::attach, {use(wires, {a, b, current, ohm}, Privilege::out)});
  program.partition(nodes, piece);
  program.partition(wires, a);
  program.partition(wires, a);
  program.partition(wires, b);
  auto launch = [&](std::vector<LaunchUse> uses) {
    program.launch(Rect::of({4}), PointSharding::block(), std::move(uses));
  };
  for (int s = 0; s < 4; ++s) {
    launch({use(forest, pw, {current}, Privilege::inout), use(forest, pw, {a, b, ohm}, Privilege::in),
            use(forest, rn, {voltage}, Privilege::in)});
    launch({use(forest, pw, {current, a, b}, Privilege::in), use(forest, rn, {charge}, Privilege::reduce)});
    launch({use(forest, pn, {voltage, charge}, Privilege::inout), use(forest, pn, {cap}, Privilege::in)});
  }
  const Counted in_loop = counted(forest, program);
  CHECK(in_loop.fences == 19);
  program.receive(nodes, voltage);
  program.alone(CallKind::detach, {use(nodes, {charge, voltage, cap, piece}, Privilege::in)});
  CHECK(counted(forest, program) == Counted{21, 7, 16, 3});
}

TEST_CASE("[coarse-flat] the coarse stage costs the same for 2^4 points and for 2^20") {
  std::uint64_t touched = 0;
  std::size_t bytes = 0;
  for (const int log_tiles : {4, 8, 12, 16, 20}) {
    RegionForest forest;
    const std::int64_t tiles = std::int64_t{1} << log_tiles;
    const OperationList program = stencil(forest, PointSharding::cyclic(), tiles * 4, tiles);
    KeyTable keys;
    CoarseStage coarse(forest, keys);
    for (const Operation& op : program.ops) (void)coarse.analyse(op);
    if (touched == 0) touched = coarse.counts().touched, bytes = coarse.bytes();
    CHECK(coarse.counts().touched == touched);
    CHECK(coarse.counts().steps == 32);
    CHECK(coarse.bytes() == bytes);
    CHECK(coarse.counts().fences == 21);
  }
  CHECK(touched > 0);
}

TEST_CASE("[coarse-flat] lists stay short: a forced fence takes the place of a long one") {
  RegionForest forest;
  const RegionId cells = forest.add(region("Cell", Rect::of({1000}), 1));
  OperationList program;
  std::vector<PartitionId> parts;
  const PartitionId owned = blocks(forest, {cells}, Point::of(4));
  for (int i = 0; i < 2000; ++i) {
    // Reads of one partition by keys that all differ.
    LaunchUse read = use(forest, owned, {0}, Privilege::in);
    read.projection = Projection::of(
        1, 1, [](const Point& p) { return p; }, static_cast<std::uint64_t>(i));
    program.launch(Rect::of({4}), PointSharding::block(), {read});
  }
  KeyTable keys;
  CoarseStage coarse(forest, keys);
  for (const Operation& op : program.ops) (void)coarse.analyse(op);
  CHECK(coarse.counts().forced == 2000 / CoarseStage::longest_list);
  CHECK(coarse.counts().fences == 0);
  CHECK(coarse.counts().touched < 2000 * CoarseStage::longest_list);
}

namespace {

struct Seen final : Executor {
  void found(const Operation& op, const FineResult&, std::uint64_t) override { ops.push_back(op.number); }
  void replayed(const Operation& op, const TemplateCall&) override { ops.push_back(op.number); }
  std::vector<std::uint64_t> ops;
};

// Runs two lanes, `a` with fences and `b` without, while shard 1 does not come to the first fence; `plant` may change
// what the coarse stage finds. The operations on `b` that shard 0 got through.
std::size_t passed_on_b(const std::function<void(const Operation&, CoarseResult&)>& plant) {
  RegionForest forest;
  const RegionId cells = forest.add(region("Cell", Rect::of({64}), 2));
  const PartitionId owned = blocks(forest, {cells}, Point::of(4)), ghost = halo(forest, owned, 1, HaloShape::box);
  OperationList program;
  for (int t = 0; t < 5; ++t) {
    program.launch(Rect::of({4}), PointSharding::cyclic(), {use(forest, owned, {0}, Privilege::inout)});
    program.launch(Rect::of({4}), PointSharding::cyclic(), {use(forest, ghost, {0}, Privilege::in)});
    program.launch(Rect::of({4}), PointSharding::cyclic(), {use(forest, owned, {1}, Privilege::inout)});
  }
  TurnNetwork network(2, 1);
  Seen seen;
  AnalysisEngine engine(forest, network.at(0), seen, {.found = plant});
  for (const Operation& op : program.ops) engine.issue(op);
  for (int i = 0; i < 100; ++i) (void)engine.turn();  // shard 1 has no turn
  std::size_t on_b = 0;
  for (const std::uint64_t op : seen.ops) on_b += op % 3 == 0;
  CHECK_FALSE(engine.is_idle());
  return on_b;
}

}  // namespace

TEST_CASE("[two-fields] a fence on one field holds back nobody on another; one of all lanes would") {
  CHECK(passed_on_b({}) == 5);
  std::uint64_t last_fence = 0;
  auto for_all_lanes = [&](const Operation& op, CoarseResult& found) {
    if (last_fence) found.fences.push_back(last_fence);
    if (found.has_fence) last_fence = op.number;
  };
  CHECK(passed_on_b(for_all_lanes) < 5);
}

TEST_CASE("[shard-memory] the fine stage is linear in own points, and flat in the number of shards") {
  std::map<std::int64_t, std::uint64_t> asked, bytes;  // by own points
  for (const std::size_t shards : {2, 4, 8, 16, 32})
    for (const std::int64_t own : {8, 16, 32, 64}) {
      RegionForest forest;
      const std::int64_t tiles = own * static_cast<std::int64_t>(shards);
      OperationList program = stencil(forest, PointSharding::block(), tiles * 4, tiles);
      for (Operation& op : program.ops)
        if (op.kind == CallKind::launch) op.sharding = PointSharding::block();
      KeyTable keys;
      FineStage fine(forest, keys, shards, ShardId(1));  // one with neighbours on one or both sides
      for (const Operation& op : program.ops) (void)fine.analyse(op);
      CHECK(fine.counts().steps == static_cast<std::uint64_t>(30 * own));
      const std::uint64_t per_step = fine.plans().asked();
      const auto known = asked.try_emplace(own, per_step).first->second;
      CHECK(per_step <= known + 8);  // neighbours beyond the borders
      const auto known_bytes = bytes.try_emplace(own, fine.bytes()).first->second;
      CHECK(fine.bytes() <= known_bytes + 1024);
    }
  CHECK(asked[64] <= 9 * asked[8]);
  CHECK(asked[64] >= 7 * asked[8]);
  CHECK(bytes[64] <= 9 * bytes[8]);
}

TEST_CASE("[shard-memory] a loop over a part of a region finds as few edges in its last turn as in its first ones") {
  RegionForest forest;
  const RegionId cells = forest.add(region("Cell", Rect::of({64}), 2));
  const PartitionId owned = blocks(forest, {cells}, Point::of(8)), ghost = halo(forest, owned, 1, HaloShape::box);
  OperationList program;
  constexpr std::uint64_t turns = 300;
  for (std::uint64_t t = 0; t < turns; ++t)
    for (const std::uint32_t to : {0u, 1u})
      program.launch(Rect{{1}, {4}, 1}, PointSharding::block(),
                     {use(forest, owned, {to}, Privilege::inout), use(forest, ghost, {1 - to}, Privilege::in)});
  KeyTable keys;
  FineStage fine(forest, keys, 1, ShardId(0));
  std::uint64_t after_ten = 0;
  for (const Operation& op : program.ops) {
    (void)fine.analyse(op);
    if (op.number == 20) after_ten = fine.counts().edges;
  }
  // A point comes behind those near it a launch ago, which it reads and which have read it, and behind itself two ago.
  CHECK(after_ten > 20 * 3);
  CHECK(fine.counts().edges <= 2 * after_ten * turns / 10);
}

TEST_CASE("[sharding] built-in shardings are turned round by formula, functions asked once; out of range is E6005") {
  for (const std::size_t shards : {1, 2, 3, 7, 16})
    for (const std::int64_t size : {0, 1, 2, 15, 16, 100}) {
      const PointSharding all[] = {
          PointSharding::block(), PointSharding::cyclic(), PointSharding::owner(ShardId(shards - 1)),
          PointSharding::of([](auto point, auto, auto count) { return point * point % count; }, {1, 2})};
      for (const PointSharding& sharding : all) {
        std::int64_t sum = 0;
        for (std::size_t shard = 0; shard < shards; ++shard) {
          const OwnPoints own = own_points(sharding, size, shards, ShardId(shard));
          for (std::int64_t i = 0; i < own.count(); ++i) {
            CHECK(sharding.shard(own[i], size, shards) == ShardId(shard));
            if (i > 0) CHECK(own[i] > own[i - 1]);
          }
          sum += own.count();
        }
        CHECK(sum == size);
      }
    }
  const PointSharding far = PointSharding::of([](auto point, auto, auto) { return point; }, {3, 4});
  CHECK(error_of([&] { (void)own_points(far, 8, 4, ShardId(0)); }) ==
        "E6005 the sharding gives shard 4 for point 4 of 8, and there are shards 0 to 3");
  CHECK(error_of([] { (void)own_points(PointSharding::owner(ShardId(4)), 8, 4, ShardId(0)); }).starts_with("E6005"));
  CHECK(PointSharding::block() == PointSharding::block());
  CHECK_FALSE(PointSharding::block() == PointSharding::cyclic());
  CHECK_FALSE(PointSharding::owner(ShardId(0)) == PointSharding::owner(ShardId(1)));
}

}  // namespace taskspec::fences_test
