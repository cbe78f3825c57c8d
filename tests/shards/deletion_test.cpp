// Deletion that shards agree on: where it happens, whenever finalisers run; and that nothing is left of what has gone.
#include "interp/shards/control/deletion.hpp"

#include <doctest/doctest.h>

#include <map>

#include "interp/shards/data/data_state.hpp"
#include "tests/shards/networks.hpp"
#include "tests/shards/operations.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::deletion_test {

namespace {

// A program of so many steps, each of them one call, in which things are made, and dropped at some time by each shard
// for itself. Some are named again by the program, and dropped once more.
struct Droppings {
  struct Thing {
    std::uint64_t made = 0;  // call, as if nothing had been deleted: what it is known by
    std::size_t named_again = SIZE_MAX;
    std::vector<std::array<std::size_t, 2>> dropped;  // by shard: steps
  };
  std::size_t steps = 0;
  std::vector<Thing> things;

  Droppings(std::uint64_t seed, std::size_t shards) {
    std::mt19937_64 random(seed);
    steps = 50 + random() % 3000;
    const std::size_t longest_delay = seed % 3 == 0 ? 1 : 1 + random() % 400;
    for (std::uint64_t made = 1; made <= 1 + random() % 60; ++made) {
      Thing thing{made, SIZE_MAX, {}};
      const std::size_t at = random() % steps;
      if (random() % 4 == 0) thing.named_again = at + 1 + random() % 200;
      for (std::size_t shard = 0; shard < shards; ++shard) {
        const std::size_t first = at + random() % longest_delay;
        const std::size_t then = std::max(first, thing.named_again == SIZE_MAX ? 0 : thing.named_again);
        const bool never = seed % 7 == 0 && random() % 20 == 0;
        thing.dropped.push_back({never ? SIZE_MAX : first, then + 1 + random() % longest_delay});
      }
      things.push_back(std::move(thing));
    }
  }
};

// What one shard saw: at how many calls it was asked, what went there, and how long it waits for the next time.
struct Seen {
  std::uint64_t calls = 0;
  std::vector<std::uint64_t> gone;
  unsigned wait = 0;
};

// One shard of the program, with what finalisers do before each step.
class Shard {
 public:
  Shard(const Droppings& program, std::size_t shard) : program_(program), shard_(shard) {
    for (const Droppings::Thing& thing : program.things) handles_[thing.made] = 1;
  }
  template <class Dropped, class Named>
  void step(std::size_t step, Dropped dropped, Named named) {
    for (const Droppings::Thing& thing : program_.things) {
      const auto handles = handles_.find(thing.made);
      if (handles == handles_.end()) continue;
      if (thing.named_again == step && handles->second++ == 0) named(thing.made);
      const auto [first, then] = thing.dropped[shard_];
      if (first == step && --handles->second == 0) dropped(thing.made);
      if (then == step && thing.named_again <= step && --handles->second == 0) dropped(thing.made);
    }
  }
  void gone(std::uint64_t made) { handles_.erase(made); }

 private:
  const Droppings& program_;
  const std::size_t shard_;
  std::map<std::uint64_t, int> handles_;
};

// By the rules, with all shards in sight.
std::vector<Seen> judged(const Droppings& program, std::size_t shards) {
  std::vector<Shard> all;
  for (std::size_t shard = 0; shard < shards; ++shard) all.emplace_back(program, shard);
  std::vector<std::set<std::uint64_t>> queues(shards);
  std::set<std::uint64_t> common;
  std::vector<Seen> seen;
  std::uint64_t calls = 0, next = 8;
  unsigned wait = 3;
  for (std::size_t step = 0; step < program.steps; ++step, ++calls) {
    for (std::size_t shard = 0; shard < shards; ++shard)
      all[shard].step(
          step, [&](std::uint64_t made) { queues[shard].insert(made); },
          [&](std::uint64_t made) { queues[shard].erase(made), common.erase(made); });
    if (calls < next) continue;
    // What the program names at this place again goes nowhere, whoever had dropped it.
    for (const Droppings::Thing& thing : program.things)
      if (thing.named_again == step) common.erase(thing.made);
    const std::vector<std::uint64_t> gone(common.begin(), common.end());
    if (!seen.empty()) wait = gone.empty() ? std::min(wait + 1, 12U) : 3;
    next = calls + (std::uint64_t{1} << wait);
    seen.push_back({calls, gone, wait});
    for (std::size_t shard = 0; shard < shards; ++shard)
      for (const std::uint64_t made : gone) all[shard].gone(made), queues[shard].erase(made);
    common = queues[0];
    for (const auto& queue : queues) std::erase_if(common, [&](std::uint64_t made) { return !queue.contains(made); });
    calls += gone.size();
  }
  return seen;
}

void put(Bytes& into, const std::vector<Seen>& all) {
  ByteWriter out(into);
  for (const Seen& seen : all) {
    out.put(seen.calls).put(seen.wait).put(std::uint64_t{seen.gone.size()});
    for (const std::uint64_t made : seen.gone) out.put(made);
  }
}

}  // namespace

TEST_CASE("[delete] what all shards have dropped goes at one call, whenever finalisers run, with the same back-off") {
  std::size_t gone = 0, longest = 0, told = 0;
  for (const std::uint64_t seed : random_seeds(200, 5'000)) {
    CAPTURE(seed);
    const std::size_t shards = 1 + seed % 5;
    const Droppings program(seed, shards);
    const std::vector<Seen> wanted = judged(program, shards);
    std::atomic<std::uint64_t> rounds = 0;
    const std::vector<Bytes> found = run_hostile(shards, seed, [&](Transport& transport) {
      Collectives collectives(transport);
      AgreedDeletions deletions(collectives);
      Shard shard(program, transport.self().index());
      std::vector<Seen> seen;
      std::uint64_t calls = 0;
      for (std::size_t step = 0; step < program.steps; ++step, ++calls) {
        shard.step(
            step, [&](std::uint64_t made) { deletions.dropped(made); },
            [&](std::uint64_t made) { deletions.named_again(made); });
        if (!deletions.is_due(calls)) continue;
        while (!deletions.is_known())
          if (!collectives.poll()) transport.wait(1'000'000);
        seen.push_back({calls, deletions.agreed(calls), deletions.wait()});
        for (const std::uint64_t made : seen.back().gone) shard.gone(made);
        calls += seen.back().gone.size();
      }
      while (!deletions.is_known())
        if (!collectives.poll()) transport.wait(1'000'000);
      rounds += deletions.counts().told;
      Bytes bytes;
      put(bytes, seen);
      return bytes;
    });
    Bytes bytes;
    put(bytes, wanted);
    for (const Bytes& of_shard : found) CHECK(of_shard == bytes);
    for (const Seen& one : wanted) gone += one.gone.size(), longest = std::max<std::size_t>(longest, one.wait);
    told += rounds;
  }
  CHECK(gone > 1000);
  CHECK(longest >= 8);
  CHECK(told > 20);
}

namespace {

struct Idle final : Executor {
  void found(const Operation&, const FineResult&, std::uint64_t) override {}
};

// Turns of a program that makes regions, or partitions of one that stays, and drops them: what is kept after each.
template <class Turn>
std::vector<std::vector<std::size_t>> kept(std::size_t shards, std::uint64_t seed, std::size_t turns, Turn turn) {
  std::vector<std::vector<std::size_t>> all(shards);
  (void)run_hostile(shards, seed, [&](Transport& transport) {
    Collectives collectives(transport);
    RegionForest forest;
    Idle executor;
    AnalysisEngine engine(forest, collectives, executor);
    KeyTable keys;
    DataState data(forest, keys, shards, transport.self());
    std::uint64_t number = 0;
    const auto issue = [&](Operation op) {
      op.number = ++number;
      for (const LaunchUse& use : op.uses) {
        const KeyId key = keys.of(op, use);
        use.fields.each([&](std::uint32_t field) {
          if (use.privilege != Privilege::out) (void)data.read({use.space.root, field}, key);
          if (use.privilege != Privilege::in) data.write({use.space.root, field}, key);
        });
      }
      engine.issue(std::move(op));
    };
    const auto settle = [&] {
      while (!engine.is_idle())
        if (!engine.turn()) transport.wait(1'000'000);
    };
    for (std::size_t i = 0; i < turns; ++i) {
      turn(i, forest, engine, keys, data, issue, settle);
      all[transport.self().index()].push_back(engine.bytes() + data.bytes() + forest.bytes() + keys.size());
    }
    settle();
    return Bytes();
  });
  return all;
}

Operation launch(std::int64_t points, std::vector<LaunchUse> uses) {
  return {.domain = Rect::of({points}), .sharding = PointSharding::cyclic(), .uses = std::move(uses)};
}

void stencil(const RegionForest& forest, PartitionId owned, PartitionId ghost, auto& issue) {
  for (int step = 0; step < 4; ++step) {
    issue(launch(4, {use(forest, owned, {0}, Privilege::inout)}));
    issue(launch(4, {use(forest, owned, {1}, Privilege::inout), use(forest, ghost, {0}, Privilege::in)}));
  }
}

}  // namespace

TEST_CASE("[delete] nothing is left of regions that a program makes and drops, nor of partitions, in any number") {
  for (const std::uint64_t seed : random_seeds(3, 30)) {
    CAPTURE(seed);
    const std::size_t shards = 1 + seed % 4;
    for (const auto& of_shard :
         kept(shards, seed, 120,
              [](std::size_t, auto&forest, auto&engine, auto&keys, auto&data, auto&issue, auto&settle) {
                const RegionId cells = forest.add({"C", "c", Rect::of({64}), std::vector<RegionField>(2)});
                const PartitionId owned = blocks(forest, {cells}, Point::of(4));
                stencil(forest, owned, halo(forest, owned, 1, HaloShape::box), issue);
                engine.untrace(cells);
                settle();
                engine.forget(cells);
                data.forget(cells);
                keys.forget([&](const UseKey& key) { return key.use.space.root == cells; });
                forest.remove(cells);
              }))
      CHECK(of_shard.back() == of_shard[20]);

    std::size_t waited = 0;
    RegionId cells;
    for (const auto& of_shard : kept(
             1, seed, 160, [&](std::size_t i, auto&forest, auto&engine, auto&keys, auto&data, auto&issue, auto&settle) {
               if (i == 0) cells = forest.add({"C", "c", Rect::of({64}), std::vector<RegionField>(2)});
               static thread_local std::vector<PartitionId> waiting;
               if (i == 0) waiting.clear();
               const std::int64_t width = 1 + static_cast<std::int64_t>(i % 5);
               const PartitionId owned = blocks(forest, {cells}, Point::of(4));
               const PartitionId ghost = halo(forest, owned, width, HaloShape::box);
               forest.retain(ghost);
               stencil(forest, owned, ghost, issue);
               engine.untrace(ghost);
               settle();
               waiting.push_back(ghost);
               const std::vector<PartitionId> all = waiting;
               for (const PartitionId one : all) {
                 if (data.names(one) || !engine.forget(one)) {
                   ++waited;
                   continue;
                 }
                 data.forget(one);
                 keys.forget([&](const UseKey& key) { return names(key, one); });
                 std::erase(waiting, one);
                 forest.release(one, [](PartitionId) {});
               }
             }))
      CHECK(of_shard.back() == of_shard[79]);
    CHECK(waited > 0);
  }
}

namespace {

struct Edges final : Executor {
  std::vector<PointEdge> all;
  void found(const Operation&, const FineResult& result, std::uint64_t) override {
    all.insert(all.end(), result.edges.begin(), result.edges.end());
  }
};

// Edges of stencils with ghosts so wide, one after the other, each on a region of its own; by the engine that is given
// back what it knew, or each by a new one. Numbers of operations count from the region's first one.
std::vector<std::vector<PointEdge>> edges_of(const std::vector<std::int64_t>& widths, bool is_new_each) {
  std::vector<std::vector<PointEdge>> found;
  (void)run_in_threads(1, [&](Transport& transport) {
    Collectives collectives(transport);
    RegionForest forest;
    Edges edges;
    auto engine = std::make_unique<AnalysisEngine>(forest, collectives, edges);
    std::uint64_t number = 0;
    for (const std::int64_t width : widths) {
      const std::uint64_t before = number;
      const RegionId cells = forest.add({"C", "c", Rect::of({64}), std::vector<RegionField>(2)});
      const PartitionId owned = blocks(forest, {cells}, Point::of(4));
      auto issue = [&](Operation op) {
        op.number = ++number;
        engine->issue(std::move(op));
      };
      stencil(forest, owned, halo(forest, owned, width, HaloShape::box), issue);
      engine->untrace(cells);
      while (!engine->is_idle()) (void)engine->turn();
      engine->forget(cells);
      forest.remove(cells);
      for (PointEdge& edge : edges.all) edge.from.op -= before, edge.to.op -= before;
      found.push_back(std::exchange(edges.all, {}));
      if (is_new_each) engine = std::make_unique<AnalysisEngine>(forest, collectives, edges);
    }
    return Bytes();
  });
  return found;
}

}  // namespace

TEST_CASE("[delete] a region that gets the id of one that has gone is another one") {
  const std::vector<std::int64_t> widths = {1, 40, 1, 17, 33, 0, 1};
  const auto kept = edges_of(widths, false), apart = edges_of(widths, true);
  CHECK(kept == apart);
  CHECK(kept[0].size() < kept[1].size());
}

}  // namespace taskspec::deletion_test
