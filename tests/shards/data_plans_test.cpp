// Plans of movements that are known by hand, what they cost, and what is left when regions and partitions go.
#include <doctest/doctest.h>

#include "interp/shards/data/data_state.hpp"
#include "tests/shards/operations.hpp"

namespace taskspec::data_plans_test {

namespace {

using States = std::vector<std::unique_ptr<DataState>>;

States states_of(RegionForest& forest, const KeyTable& keys, std::size_t shards,
                 DataState::Plans plans = DataState::Plans::own, DataState::Folds folds = DataState::Folds::points) {
  States states;
  for (std::size_t shard = 0; shard < shards; ++shard)
    states.push_back(std::make_unique<DataState>(forest, keys, shards, ShardId(shard), plans, folds));
  return states;
}

KeyId key_of(KeyTable& keys, const RegionForest& forest, PartitionId partition, const PointSharding& sharding) {
  const Operation op{.domain = forest[partition].colours, .sharding = sharding};
  return keys.of(op, use(forest, partition, {0}, Privilege::in));
}

// The stencil of one or two axes with that many tiles of `own` ones for each shard, seen from one shard in the middle:
// what it looked at until nothing new is to be decided, and how many bytes it keeps.
struct Cost {
  std::uint64_t touched, bytes;
};
Cost cost(std::size_t shards, std::int64_t own, std::size_t axes, const PointSharding& sharding, bool contributes) {
  RegionForest forest;
  const auto tiles = static_cast<std::int64_t>(shards) * own;
  const Point counts = axes == 1 ? Point::of(tiles) : Point::of(tiles, 3);
  const RegionId g = forest.add(
      {"G", "g", axes == 1 ? Rect::of({tiles * 8}) : Rect::of({tiles * 4, 12}), std::vector<RegionField>(2)});
  const PartitionId owned = blocks(forest, {g}, counts);
  const PartitionId inner = intersect(forest, owned, shrink(forest, {g}, 1));
  const PartitionId ghost = halo(forest, owned, 1, HaloShape::star);
  KeyTable keys;
  const KeyId own_key = key_of(keys, forest, owned, sharding), inner_key = key_of(keys, forest, inner, sharding),
              ghost_key = key_of(keys, forest, ghost, sharding);
  DataState state(forest, keys, shards, ShardId(shards / 2));
  const LaneKey a{g, 0}, b{g, 1};
  state.everywhere(a, {g});
  state.everywhere(b, {g});
  for (int turn = 0; turn < 5; ++turn) {
    (void)state.read(a, own_key);
    state.write(a, own_key);
    (void)state.read(a, ghost_key);
    if (contributes) (void)state.reduce(b, ghost_key);
    (void)state.read(b, inner_key);
    state.write(b, inner_key);
  }
  return {state.counts().touched, state.bytes()};
}

}  // namespace

TEST_CASE("[data] the stencil moves 6 messages of 8 bytes a step among 3 or 4 shards, 2 of 24 between two") {
  RegionForest forest;
  const RegionId cells = forest.add({"Cell", "cells", Rect::of({64}), std::vector<RegionField>(2)});
  const PartitionId owned = blocks(forest, {cells}, Point::of(4));
  const PartitionId interior = intersect(forest, owned, shrink(forest, {cells}, 1));
  const PartitionId ghost = halo(forest, owned, 1, HaloShape::box);
  for (const auto& [shards, messages, bytes] : {std::tuple{1, 0, 0}, {2, 2, 24}, {3, 6, 8}, {4, 6, 8}, {8, 6, 8}}) {
    KeyTable keys;
    std::vector<std::unique_ptr<DataState>> states;
    for (int shard = 0; shard < shards; ++shard)
      states.push_back(std::make_unique<DataState>(forest, keys, shards, ShardId(static_cast<std::size_t>(shard))));
    auto key = [&](PartitionId partition) {
      const Operation op{.domain = Rect::of({4}), .sharding = PointSharding::cyclic()};
      return keys.of(op, use(forest, partition, {0}, Privilege::in));
    };
    const LaneKey state{cells, 0}, flux{cells, 1};
    for (auto& shard : states) {
      shard->everywhere(state, {cells});
      shard->everywhere(flux, {cells});
    }
    for (int step = 0; step < 10; ++step) {
      CAPTURE(shards);
      CAPTURE(step);
      int sent = 0, other = 0, made = 0;
      for (auto& shard : states) {
        auto inout = [&](LaneKey lane, KeyId use) {
          CHECK_FALSE(shard->read(lane, use));
          shard->write(lane, use);
        };
        const std::uint64_t before = shard->counts().made;
        inout(state, key(owned));
        inout(flux, key(interior));
        if (const auto moved = shard->read(state, key(ghost)))
          for (const Movement::Part& part : moved->send) part.runs.size() * 8 == bytes ? ++sent : ++other;
        CHECK_FALSE(shard->read(state, key(ghost)));  // it is there now
        inout(flux, key(interior));
        made += static_cast<int>(shard->counts().made - before);
      }
      CHECK(sent == messages);
      CHECK(other == 0);
      if (step > 2) CHECK(made == 0);
    }
  }
}

TEST_CASE("[data] what is looked at and kept is flat in shards and in the size of launches, linear in own points") {
  for (const bool contributes : {false, true})
    for (const std::size_t axes : {1, 2})
      for (const PointSharding& sharding : {PointSharding::block(), PointSharding::cyclic()}) {
        CAPTURE(contributes);
        CAPTURE(axes);
        CAPTURE(static_cast<int>(sharding.kind));
        const Cost four = cost(16, 4, axes, sharding, contributes);
        for (const std::size_t shards : {64, 1024, 1 << 16}) {
          const Cost more = cost(shards, 4, axes, sharding, contributes);
          CHECK(more.touched <= four.touched + four.touched / 10);
          CHECK(more.bytes <= four.bytes + four.bytes / 10);
        }
        std::uint64_t last = four.touched;
        for (const std::int64_t own : {8, 16, 32, 64}) {
          const std::uint64_t touched = cost(16, own, axes, sharding, contributes).touched;
          CHECK(touched <= 2 * last + last / 10);
          last = touched;
        }
        CHECK(four.touched < 6000);
      }
}

TEST_CASE("[data] a stack that grows too deep becomes a table, and a region that has gone leaves nothing") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({128}), std::vector<RegionField>(1)});
  KeyTable keys;
  const States own = states_of(forest, keys, 3), all = states_of(forest, keys, 3, DataState::Plans::all);
  const KeyId reader = key_of(keys, forest, blocks(forest, {r}, Point::of(5)), PointSharding::block());
  const LaneKey lane{r, 0};
  std::size_t moved = 0;
  for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(DataState::deepest_stack); ++i) {
    CAPTURE(i);
    const PartitionId two = cover(forest, {r}, {{{i, i + 3}}, {{i + 9, i + 11}}, {{i + 20, i + 21}, {i + 24, i + 26}}});
    const KeyId key = key_of(keys, forest, two, i % 2 ? PointSharding::cyclic() : PointSharding::block());
    for (std::size_t shard = 0; shard < 3; ++shard) {
      own[shard]->write(lane, key);
      all[shard]->write(lane, key);
      if (i % 7) continue;
      const auto a = own[shard]->read(lane, reader), b = all[shard]->read(lane, reader);
      REQUIRE(!a == !b);
      if (!a) continue;
      CHECK(a->id == b->id);
      ++moved;
    }
  }
  CHECK(moved > 20);
  for (const auto& shard : own) {
    const std::size_t before = shard->bytes();
    shard->forget(r);
    CHECK(shard->bytes() < before / 10);
    CHECK_FALSE(shard->gather(lane, {r}));  // zeros again, everywhere
  }
}

TEST_CASE("[data] a partition that nobody names any more is held for what was written by its pieces") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({9}), std::vector<RegionField>(1)});
  KeyTable keys;
  const States states = states_of(forest, keys, 3);
  const LaneKey lane{r, 0};
  {
    const PartitionId thirds = blocks(forest, {r}, Point::of(3));
    forest.retain(thirds);
    for (const auto& state : states) state->write(lane, key_of(keys, forest, thirds, PointSharding::cyclic()));
    forest.release(thirds, [](PartitionId) { CHECK(false); });
  }
  const auto moved = states[2]->gather(lane, {r});
  REQUIRE(moved);
  CHECK(moved->send.size() == 2);
  CHECK(moved->receive.size() == 2);
  // Another region takes its id: nothing of the old one is known there.
  forest.remove(r);
  REQUIRE(forest.add({"Q", "q", Rect::of({4}), std::vector<RegionField>(1)}) == r);
  CHECK_FALSE(states[2]->gather(lane, {r}));
}

TEST_CASE("[data] a lane is set to what a sequence of steps left behind, as if it had been taken") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({64}), std::vector<RegionField>(2)});
  const PartitionId owned = blocks(forest, {r}, Point::of(4)), ghost = halo(forest, owned, 1, HaloShape::box);
  KeyTable keys;
  const KeyId own_key = key_of(keys, forest, owned, PointSharding::cyclic()),
              ghost_key = key_of(keys, forest, ghost, PointSharding::cyclic());
  DataState state(forest, keys, 4, ShardId(1));
  const LaneKey lane{r, 0}, other{r, 1};
  const std::uint32_t entry = state.state(lane);
  state.write(lane, own_key);
  const std::uint32_t written = state.state(lane);
  const auto moved = state.read(lane, ghost_key);
  REQUIRE(moved);
  CHECK(entry != written);
  CHECK(state.state(lane) != written);  // the holders are a part of it
  CHECK_FALSE(state.read(lane, ghost_key));
  state.write(lane, own_key);
  CHECK(state.state(lane) == written);
  state.set_state(other, written);  // as a replay does
  CHECK(state.read(other, ghost_key) == moved);
}

TEST_CASE("[data] one shard reads what all have written, and then all do") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({10}), std::vector<RegionField>(1)});
  KeyTable keys;
  const States states = states_of(forest, keys, 3);
  const KeyId key = key_of(keys, forest, blocks(forest, {r}, Point::of(5)), PointSharding::cyclic());
  const LaneKey lane{r, 0};
  auto of = [](std::initializer_list<Run> runs) { return Intervals::of(runs); };
  for (const auto& state : states) state->write(lane, key);
  // Points 0 3, 1 4 and 2.
  const auto at_one = states[1]->collect(lane, {r}, ShardId(1));
  REQUIRE(at_one);
  CHECK(at_one->send.empty());
  REQUIRE(at_one->receive.size() == 2);
  CHECK(at_one->receive[0].runs == of({{0, 2}, {6, 8}}));
  CHECK(at_one->receive[1].runs == of({{4, 6}}));
  const auto at_zero = states[0]->collect(lane, {r}, ShardId(1));
  REQUIRE(at_zero);
  REQUIRE(at_zero->send.size() == 1);
  CHECK(at_zero->send[0].mark == at_one->receive[0].mark);
  (void)states[2]->collect(lane, {r}, ShardId(1));
  CHECK(states[1]->gather(lane, {r})->receive.empty());  // it has all
  const auto at_two = states[2]->gather(lane, {r});
  REQUIRE(at_two->send.size() == 1);
  CHECK(at_two->send[0].peer == ShardId(0));
  CHECK(at_two->receive.size() == 2);
}

TEST_CASE("[data] contributions go to the home, what is everywhere to its block share, in the order of points") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({8}), std::vector<RegionField>(1)});
  const PartitionId pairs = blocks(forest, {r}, Point::of(4)), near = halo(forest, pairs, 1, HaloShape::box);
  KeyTable keys;
  const States states = states_of(forest, keys, 2);
  const LaneKey lane{r, 0};
  const KeyId key = key_of(keys, forest, near, PointSharding::cyclic());
  const auto zero = states[0]->reduce(lane, key), one = states[1]->reduce(lane, key);
  // Pieces 0..3, 1..5, 3..7, 5..8 of shards 0 1 0 1; the shares are 0..4 and 4..8.
  auto of = [](std::initializer_list<Run> runs) { return Intervals::of(runs); };
  REQUIRE(zero->steps.size() == 3);
  CHECK(zero->steps[0].point == 0);
  CHECK(zero->steps[0].from == ShardId(0));
  CHECK(zero->steps[0].runs == of({{0, 3}}));
  CHECK(zero->steps[1].from == ShardId(1));
  CHECK(zero->steps[1].runs == of({{1, 4}}));
  CHECK(zero->steps[2].point == 2);
  CHECK(zero->steps[2].runs == of({{3, 4}}));
  REQUIRE(zero->send.size() == 1);
  REQUIRE(zero->send[0].slices.size() == 1);
  CHECK(zero->send[0].slices[0].point == 2);
  CHECK(zero->send[0].slices[0].runs == of({{4, 7}}));
  CHECK(one->receive_from == std::vector{ShardId(0)});
  CHECK(one->marks == std::vector{zero->send[0].mark});
}

TEST_CASE("[data] by shards a home gets one contribution of each other shard for each element") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({12}), std::vector<RegionField>(1)});
  const PartitionId pairs = blocks(forest, {r}, Point::of(6)), near = halo(forest, pairs, 3, HaloShape::box);
  KeyTable keys;
  const States states = states_of(forest, keys, 3, DataState::Plans::own, DataState::Folds::shard);
  const KeyId key = key_of(keys, forest, near, PointSharding::cyclic());
  std::vector<std::shared_ptr<const FoldMovement>> all;
  for (const auto& state : states) all.push_back(state->reduce({r, 0}, key));
  // Pieces 0..5, 0..7, 1..9, 3..11, 5..12, 7..12 of shards 0 1 2 0 1 2; the shares are 0..4, 4..8 and 8..12.
  auto of = [](std::initializer_list<Run> runs) { return Intervals::of(runs); };
  REQUIRE(all[1]->send.size() == 2);
  CHECK(all[1]->send[1].slices.size() == 1);
  CHECK(all[0]->send[0].slices.size() == 2);  // of points 0 and 3 to shard 1: elements 4, and 4 to 7
  CHECK(all[0]->send[0].together == of({{4, 8}}));
  // There shards follow one another, each in place of its points; own ones are folded one by one.
  const std::vector<FoldMovement::Step>& steps = all[1]->steps;
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].from == ShardId(0));
  CHECK(steps[0].point == FoldMovement::all_points);
  CHECK(steps[0].runs == of({{4, 8}}));
  CHECK(steps[1].from == ShardId(1));
  CHECK(steps[1].point == 1);
  CHECK(steps[2].point == 4);
  CHECK(steps[3].from == ShardId(2));
  CHECK(steps[3].runs == of({{4, 8}}));
  CHECK(all[1]->marks == std::vector{all[0]->send[0].mark, all[2]->send[1].mark});
}

TEST_CASE("[data] a fill is written by nobody: each shard fills in what it needs, once, and nothing of it is sent") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({32}), std::vector<RegionField>(1)});
  const PartitionId owned = blocks(forest, {r}, Point::of(4)), ghost = halo(forest, owned, 1, HaloShape::box);
  KeyTable keys;
  const KeyId own_key = key_of(keys, forest, owned, PointSharding::block()),
              ghost_key = key_of(keys, forest, ghost, PointSharding::block());
  const LaneKey lane{r, 0};
  auto of = [](std::initializer_list<Run> runs) { return Intervals::of(runs); };
  for (const DataState::Plans plans : {DataState::Plans::own, DataState::Plans::all}) {
    const States states = states_of(forest, keys, 4, plans);
    DataState& one = *states[1];
    auto only_fill = [&](const std::shared_ptr<const Movement>& movement, const Intervals& runs, std::int64_t contents) {
      REQUIRE(movement);
      CHECK(movement->send.empty());
      CHECK(movement->receive.empty());
      REQUIRE(movement->fills.size() == 1);
      CHECK(movement->fills[0].runs == runs);
      CHECK(one.contents(lane, movement->fills[0].number).integer() == contents);
    };
    one.fill(lane, {r}, Value(std::int64_t{7}));
    only_fill(one.read(lane, own_key), of({{8, 16}}), 7);
    only_fill(one.read(lane, ghost_key), of({{7, 8}, {16, 17}}), 7);
    CHECK_FALSE(one.read(lane, ghost_key));
    // What is written by points goes round as ever, and what they left is still that of the fill.
    const Space second{r, owned, Point::of(1)};
    one.fill(lane, second, Value(std::int64_t{8}));  // another one over a part of it
    only_fill(one.fills(lane, {r}), of({{8, 16}}), 8);
    only_fill(one.read(lane, ghost_key), of({{8, 16}}), 8);
    one.write(lane, own_key);
    const auto moved = one.read(lane, ghost_key);
    REQUIRE(moved);
    CHECK(moved->fills.empty());
    CHECK(moved->receive.size() == 2);
    // One shard reads all.
    one.fill(lane, {r}, Value(std::int64_t{9}));
    CHECK_FALSE(one.collect(lane, {r}, ShardId(2)));
    only_fill(one.collect(lane, {r}, ShardId(1)), of({{0, 32}}), 9);
    CHECK_FALSE(one.gather(lane, {r}));
  }
}

TEST_CASE("[data] what shards fill in is flat in their number, and a loop of fills makes nothing new") {
  for (const std::size_t shards : {2, 8, 64}) {
    CAPTURE(shards);
    RegionForest forest;
    const auto tiles = static_cast<std::int64_t>(shards) * 2;
    const RegionId r = forest.add({"R", "r", Rect::of({tiles * 8}), std::vector<RegionField>(2)});
    const PartitionId owned = blocks(forest, {r}, Point::of(tiles)), ghost = halo(forest, owned, 1, HaloShape::box);
    KeyTable keys;
    const KeyId own_key = key_of(keys, forest, owned, PointSharding::cyclic()),
                ghost_key = key_of(keys, forest, ghost, PointSharding::cyclic());
    DataState state(forest, keys, shards, ShardId(1));
    const LaneKey a{r, 0}, sums{r, 1};
    std::int64_t filled = 0;
    auto count = [&](const std::shared_ptr<const Movement>& movement) {
      if (movement)
        for (const Movement::Fill& fill : movement->fills) filled += fill.runs.size();
    };
    std::uint64_t made = 0;
    std::size_t bytes = 0;
    for (std::int64_t turn = 0; turn < 40; ++turn) {
      if (turn == 3) made = state.counts().made, bytes = state.bytes();
      filled = 0;
      state.fill(a, {r}, Value(turn));
      state.fill(sums, {r}, Value(-turn));
      count(state.read(a, own_key));
      state.write(a, own_key);
      count(state.fills(sums, {r}));
      (void)state.reduce(sums, ghost_key);
      count(state.read(sums, own_key));
      CHECK(filled == 16 + 16);  // own tiles, and the share that contributions go to
    }
    CHECK(state.counts().made == made);
    CHECK(state.bytes() == bytes);
  }
}

}  // namespace taskspec::data_plans_test
