// Traces whose counts are known by hand, what a replay does not do, and why a guard fails.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "tests/shards/networks.hpp"
#include "tests/shards/operations.hpp"

namespace taskspec::traces_test {

namespace {

Region region(std::string name, std::int64_t size, std::vector<RegionField> fields) {
  return {name, name, Rect::of({size}), std::move(fields)};
}

// The stencil of three launches a step.
struct Stencil {
  explicit Stencil(std::int64_t tiles = 4) : domain(Rect::of({tiles})) {
    cells = forest.add(region("Cell", 16 * tiles, {{"state", Precision::f64}, {"flux", Precision::f64}}));
    owned = blocks(forest, {cells}, Point::of(tiles));
    interior = intersect(forest, owned, shrink(forest, {cells}, 1));
    ghost = halo(forest, owned, 1, HaloShape::box);
    add_uses = {use(forest, owned, {0}, Privilege::inout)};
    mul_uses = {use(forest, interior, {1}, Privilege::inout)};
    stencil_uses = {use(forest, interior, {1}, Privilege::inout), use(forest, ghost, {0}, Privilege::in)};
    add_uses[0].name = "owned";
    mul_uses[0].name = stencil_uses[0].name = "interior";
    stencil_uses[1].name = "ghost";
  }
  void fill(AnalysisEngine& engine) {
    for (const std::uint32_t field : {0u, 1u}) alone(engine, CallKind::fill, use(cells, {field}, Privilege::out));
  }
  void alone(AnalysisEngine& engine, CallKind kind, LaunchUse of) {
    engine.issue({.number = ++number, .kind = kind, .sharding = PointSharding::owner(ShardId(0)), .uses = {of}});
  }
  void launch(AnalysisEngine& engine, const std::vector<LaunchUse>& uses, std::uint64_t task = 0) {
    engine.issue(
        {.number = ++number, .domain = domain, .sharding = PointSharding::cyclic(), .uses = uses, .what = task});
  }
  void step(AnalysisEngine& engine) {
    launch(engine, add_uses, 1);
    launch(engine, mul_uses, 2);
    launch(engine, stencil_uses, 3);
  }

  RegionForest forest;
  Rect domain;
  RegionId cells;
  PartitionId owned, interior, ghost;
  std::vector<LaunchUse> add_uses, mul_uses, stencil_uses;
  std::uint64_t number = 0;
};

struct Notes final : Executor {
  void found(const Operation& op, const FineResult& result, std::uint64_t) override {
    if (result.is_dispatched)
      ++again;
    else
      analysed.push_back(op.number);
  }
  void replayed(const Operation& op, const TemplateCall& call) override {
    replays.push_back(op.number);
    CHECK(call.window.back() == op.number);
  }
  std::vector<std::uint64_t> analysed, replays;
  std::size_t again = 0;
};

// One shard: fences cost nothing there, and are counted as everywhere.
struct Alone {
  explicit Alone(AnalysisEngine::Options options = {}) : engine(program.forest, network.at(0), notes, options) {}
  void settle() {
    while (!engine.is_idle()) (void)engine.turn();
  }
  std::vector<std::uint64_t> counts() const {
    const auto& coarse = engine.coarse().counts();
    return {coarse.fences, coarse.elided, engine.traces().records, engine.traces().replayed};
  }

  std::vector<std::uint64_t> settled() {
    settle();
    return counts();
  }

  Stencil program;
  TurnNetwork network{1, 1};
  Notes notes;
  AnalysisEngine engine;
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("[traces] [fence-counts] the stencil of ten steps: 2 records and 8 replays; found: 1 and 7; fences as ever") {
  for (const int mode : {0, 1, 2}) {
    CAPTURE(mode);
    Alone shard({.traces = mode > 0});
    shard.program.fill(shard.engine);
    for (int t = 0; t < 10; ++t) {
      if (mode == 1) shard.engine.begin_trace(5);
      shard.program.step(shard.engine);
      if (mode == 1) shard.engine.end_trace(5);
    }
    LaunchUse sum = use(shard.program.cells, {1}, Privilege::in);
    shard.engine.issue({.number = ++shard.program.number,
                        .kind = CallKind::receive,
                        .uses = {sum},
                        .is_counted = false,
                        .by_owners = true});
    shard.settle();
    const Numbers wanted[] = {{21, 19, 0, 0}, {21, 19, 2, 8}, {21, 19, 1, 7}};
    CHECK(shard.counts() == wanted[mode]);
    CHECK(shard.engine.coarse().counts().other_fences == (mode > 0));
    CHECK(shard.notes.replays.size() == 3 * wanted[mode][3]);
    CHECK(shard.notes.analysed.size() == 33 - 3 * wanted[mode][3]);
  }
}

TEST_CASE("[traces] the circuit's kinds of use: reductions, and fields that are only read") {
  for (const bool traced : {false, true}) {
    RegionForest forest;
    const RegionId nodes = forest.add(region("Node", 64, {{"charge", Precision::f64}, {"cap", Precision::f64}}));
    const PartitionId own = blocks(forest, {nodes}, Point::of(4)), near = halo(forest, own, 1, HaloShape::box);
    TurnNetwork network(1, 1);
    Notes notes;
    AnalysisEngine engine(forest, network.at(0), notes, {.traces = traced});
    std::uint64_t number = 0;
    auto launch = [&](std::vector<LaunchUse> uses) {
      engine.issue({.number = ++number, .domain = Rect::of({4}), .uses = std::move(uses)});
    };
    engine.issue({.number = ++number,
                  .kind = CallKind::attach,
                  .sharding = PointSharding::owner(ShardId(0)),
                  .uses = {use(nodes, {0, 1}, Privilege::out)}});
    for (int t = 0; t < 20; ++t) {
      launch({use(forest, near, {0}, Privilege::reduce), use(forest, own, {1}, Privilege::in)});
      launch({use(forest, own, {0}, Privilege::inout), use(forest, own, {1}, Privilege::in)});
    }
    // Who writes what was only read stands behind all twenty readers.
    launch({use(forest, own, {1}, Privilege::inout)});
    while (!engine.is_idle()) (void)engine.turn();
    CHECK(engine.traces().replayed == (traced ? 17 : 0));
    CHECK(engine.fine().counts().edges > 0);
    CHECK(engine.coarse().counts().fences == 41);
  }
}

TEST_CASE("[traces] a replay touches no list, and no fence is issued") {
  Alone shard;
  shard.program.fill(shard.engine);
  for (int t = 0; t < 5; ++t) shard.program.step(shard.engine);
  shard.settle();
  REQUIRE(shard.engine.traces().replayed == 2);
  const auto coarse = shard.engine.coarse().counts();
  const auto fine = shard.engine.fine().counts();
  const std::uint64_t asked = shard.engine.fine().plans().asked(), started = shard.network.at(0).counts().started;
  for (int t = 0; t < 100; ++t) shard.program.step(shard.engine);
  CHECK(shard.engine.traces().replayed == 102);
  CHECK(shard.engine.coarse().counts().touched == coarse.touched);
  CHECK(shard.engine.coarse().counts().steps == coarse.steps);
  CHECK(shard.engine.coarse().counts().collectives == coarse.collectives);
  CHECK(shard.engine.fine().counts().entries == fine.entries);
  CHECK(shard.engine.fine().counts().steps == fine.steps);
  CHECK(shard.engine.fine().plans().asked() == asked);
  CHECK(shard.network.at(0).counts().started == started);
  CHECK(shard.engine.coarse().counts().fences == coarse.fences + 200);
  CHECK(shard.engine.is_idle());
}

TEST_CASE("[traces] a guard that fails in the middle: the calls so far are analysed now, and not run again") {
  Alone shard;
  Stencil& program = shard.program;
  program.fill(shard.engine);
  for (int t = 0; t < 6; ++t) program.step(shard.engine);
  shard.settle();
  program.launch(shard.engine, program.add_uses, 1);
  program.launch(shard.engine, program.mul_uses, 2);
  CHECK(shard.notes.replays.size() == 11);
  program.launch(shard.engine, program.mul_uses, 9);  // another task
  shard.settle();
  CHECK(shard.notes.again == 2);
  CHECK(shard.engine.traces().failed == 1);
  CHECK(shard.engine.why_trace() == "call 3 of the trace is another one than in the template");
  CHECK(shard.engine.coarse().counts().other_fences == 1);
}

TEST_CASE("[traces] fences are counted call by call, whatever becomes of the execution") {
  for (const bool traced : {false, true}) {
    Alone shard({.traces = traced});
    shard.program.fill(shard.engine);
    for (int t = 0; t < 4; ++t) shard.program.step(shard.engine);
    const auto before = shard.settled();
    shard.program.launch(shard.engine, shard.program.add_uses, 1);
    CHECK(shard.settled()[0] == before[0] + 1);
    shard.program.launch(shard.engine, shard.program.add_uses, 1);
    CHECK(shard.settled()[0] == before[0] + 1);
    CHECK(shard.counts()[1] == before[1] + 1);
    CHECK(shard.notes.again == traced);
  }
}

TEST_CASE("[traces] why a guard failed: the first entry that differs") {
  Alone shard;
  Stencil& program = shard.program;
  program.fill(shard.engine);
  auto execution = [&] {
    shard.engine.begin_trace(1);
    program.step(shard.engine);
    shard.engine.end_trace(1);
  };
  execution();
  execution();
  CHECK(shard.engine.why_trace() == "Cell.state: the template has a write of r, 2 operations back, and there is none");
  execution();
  CHECK(shard.counts()[3] == 1);
  program.launch(shard.engine, program.mul_uses, 2);
  execution();
  CHECK(shard.engine.why_trace() ==
        "Cell.state: there is a read of ghost, 2 operations back, and the template has none");
}

TEST_CASE("[traces] what three times running did not fit is given up, until its calls are others") {
  Alone shard({.automatic = false});
  Stencil& program = shard.program;
  auto execution = [&](std::uint64_t task) {
    shard.engine.begin_trace(1);
    program.launch(shard.engine, program.add_uses, task);
    program.launch(shard.engine, program.mul_uses, 2);
    shard.engine.end_trace(1);
  };
  program.fill(shard.engine);
  for (int t = 0; t < 3; ++t) execution(1);
  const std::uint64_t records = shard.counts()[2];
  CHECK(shard.counts()[3] == 1);
  // Each time another call between, so that no list is as it was.
  for (int t = 0; t < 6; ++t) {
    for (int k = 0; k <= t; ++k) {
      LaunchUse read = program.stencil_uses[1];
      read.projection = Projection::of(
          1, 1, [](const Point& p) { return p; }, static_cast<std::uint64_t>(10 * t + k));
      program.launch(shard.engine, {read}, 7);
    }
    execution(1);
  }
  CHECK(shard.engine.traces().failed == 4);  // one before, and three
  CHECK(shard.counts()[2] == records + 2);
  for (int t = 0; t < 4; ++t) execution(1);
  CHECK(shard.counts()[3] == 1);
  for (int t = 0; t < 4; ++t) execution(8);
  CHECK(shard.counts()[3] > 1);
}

TEST_CASE("[traces] the data of a lane are a part of the guard: a stale ghost otherwise") {
  for (const bool with_holders : {true, false}) {
    std::uint64_t version = 0;
    std::size_t stale = 0;
    AnalysisEngine::Options options;
    if (with_holders) options.data_signature = [&](RegionId, std::uint32_t field) { return field == 0 ? version : 0; };
    Alone shard(options);
    Stencil& program = shard.program;
    // A launch that reads ghosts; its copies are a part of the template. The file behind the field changes in between,
    // which is in no list.
    auto execution = [&] {
      const std::size_t before = shard.notes.replays.size();
      const std::uint64_t records = shard.counts()[2];
      shard.engine.begin_trace(1);
      program.launch(shard.engine, program.stencil_uses, 3);
      shard.engine.end_trace(1);
      return shard.notes.replays.size() == before && shard.counts()[2] > records;
    };
    for (int t = 0; t < 5; ++t) {
      shard.engine.begin_trace(1);
      program.launch(shard.engine, program.stencil_uses, 3);
      shard.engine.end_trace(1);
    }
    shard.settle();
    ++version;
    stale += !execution();
    CHECK(stale == (with_holders ? 0 : 1));
    if (with_holders)
      CHECK(shard.engine.why_trace() == "Cell.state: other shards hold its contents than in the template");
  }
}

TEST_CASE("[traces] scalars are parameters: a replayed call has its own") {
  // By the number of its call, as a caller would know it.
  std::map<std::uint64_t, double> scalar;
  struct Sum final : Executor {
    explicit Sum(std::map<std::uint64_t, double>& scalar) : scalar(scalar) {}
    void found(const Operation& op, const FineResult&, std::uint64_t) override { sum += scalar.at(op.number); }
    void replayed(const Operation& op, const TemplateCall& call) override {
      sum += scalar.at(op.number);
      frozen += scalar.at(call.window[0]);
    }
    std::map<std::uint64_t, double>& scalar;
    double sum = 0, frozen = 0;
  } sum(scalar);
  Stencil program;
  TurnNetwork network(1, 1);
  AnalysisEngine engine(program.forest, network.at(0), sum);
  double wanted = 0;
  for (int t = 0; t < 20; ++t) {
    scalar[program.number + 1] = t;
    wanted += t;
    program.launch(engine, program.add_uses, 1);
    while (!engine.is_idle()) (void)engine.turn();
  }
  CHECK(engine.traces().replayed > 5);
  CHECK(sum.sum == wanted);
  CHECK(sum.frozen < sum.sum);
}

TEST_CASE("[traces] a period is found in one look at each call") {
  auto found_at = [](const std::vector<std::uint64_t>& tokens) {
    PeriodFinder finder;
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (finder.feed(tokens[i], true)) found.emplace_back(i + 1, finder.period());
    return found.empty() ? std::pair<std::size_t, std::size_t>() : found[0];
  };
  CHECK(found_at({1, 2, 3, 1, 2, 3, 1, 2}) == std::pair<std::size_t, std::size_t>(6, 3));
  CHECK(found_at({9, 8, 1, 2, 3, 1, 2, 3}) == std::pair<std::size_t, std::size_t>(8, 3));
  CHECK(found_at({5, 5}) == std::pair<std::size_t, std::size_t>(2, 1));
  CHECK(found_at({1, 2, 3, 4, 5, 6}) == std::pair<std::size_t, std::size_t>());
  // Inner periods of one call do not hide the outer one for ever.
  CHECK(found_at({1, 2, 1, 3, 1, 2, 1, 3, 1, 2, 1, 3}).second == 4);
  std::vector<std::uint64_t> longest;
  for (int twice = 0; twice < 2; ++twice)
    for (std::uint64_t i = 1; i <= 4000; ++i) longest.push_back(i * 77);
  CHECK(found_at(longest) == std::pair<std::size_t, std::size_t>(8000, 4000));
  PeriodFinder finder;
  for (int i = 0; i < 2; ++i) (void)finder.feed(5, true);
  CHECK(finder.turn() == 2);  // of one launch two
}

namespace {

// Hears nothing of replays; keeps what is analysed, with its edges.
struct Analysed final : Executor {
  void found(const Operation& op, const FineResult& result, std::uint64_t) override {
    if (result.is_dispatched) return;
    std::string text = std::to_string(op.number) + ":";
    for (const PointEdge& edge : result.edges)
      text += fmt::format(" {}[{}]->[{}]", edge.from.op, edge.from.point, edge.to.point);
    operations.push_back(std::move(text));
  }
  bool wants_replayed() const override { return false; }
  std::vector<std::string> operations;
};

struct Quiet {
  Quiet() : engine(program.forest, network.at(0), notes) { program.fill(engine); }
  void launch(std::uint64_t which) {
    const std::vector<LaunchUse>* uses[] = {&program.add_uses, &program.mul_uses, &program.stencil_uses};
    program.launch(engine, *uses[which % 3], which % 3 + 1);
    settle();
  }
  void settle() {
    while (!engine.is_idle()) (void)engine.turn();
  }
  Stencil program;
  TurnNetwork network{1, 1};
  Analysed notes;
  AnalysisEngine engine;
};

}  // namespace

TEST_CASE("[traces] calls that led back to where they began, made once more in one go, are what they are one by one") {
  for (const std::uint64_t offset : {0u, 1u, 2u})
    for (const std::uint64_t behind : {0u, 1u, 2u}) {
      CAPTURE(offset);
      CAPTURE(behind);
      Quiet one_by_one, in_one_go;
      std::uint64_t next = 0;
      for (; next < 30 + offset; ++next) {
        one_by_one.launch(next);
        in_one_go.launch(next);
      }
      const std::optional<Tracer::Place> place = in_one_go.engine.replay_place();
      REQUIRE(place);
      CHECK(place->at == offset);
      for (const std::uint64_t calls : {6u, 3u, 12u}) {
        for (std::uint64_t k = 0; k < calls; ++k) one_by_one.launch(next + k);
        in_one_go.engine.replay_again(in_one_go.program.number + 1, calls);
        in_one_go.program.number += calls;
        next += calls;
        CHECK(in_one_go.engine.replay_place() == place);
        CHECK(one_by_one.engine.replay_place()->at == offset);
      }
      // It goes on, and then something else comes, in the middle of a turn or behind it.
      for (Quiet* shard : {&one_by_one, &in_one_go}) {
        for (std::uint64_t k = 0; k < behind; ++k) shard->launch(next + k);
        shard->program.alone(shard->engine, CallKind::fill, use(shard->program.cells, {1}, Privilege::out));
        CHECK_FALSE(shard->engine.replay_place());
        for (std::uint64_t k = 0; k < 3; ++k) shard->launch(k);
        shard->settle();
      }
      CHECK(one_by_one.notes.operations == in_one_go.notes.operations);
      const auto counts = [](Quiet& shard) {
        const CoarseStage::Counts& coarse = shard.engine.coarse().counts();
        return std::vector{coarse.fences, coarse.elided, coarse.other_fences, shard.engine.traces().records,
                           shard.engine.traces().replayed};
      };
      CHECK(counts(one_by_one) == counts(in_one_go));
      CHECK(in_one_go.engine.traces().replayed > 10);
    }
}

TEST_CASE("[traces] a replay has no place where somebody hears of each call, or the program names the trace") {
  Alone heard;
  heard.program.fill(heard.engine);
  Quiet named;
  for (int t = 0; t < 10; ++t) {
    heard.program.step(heard.engine);
    named.engine.begin_trace(5);
    named.program.step(named.engine);
    named.engine.end_trace(5);
  }
  CHECK(heard.engine.traces().replayed > 5);
  CHECK(named.engine.traces().replayed > 5);
  CHECK_FALSE(heard.engine.replay_place());
  CHECK_FALSE(named.engine.replay_place());
}

}  // namespace taskspec::traces_test
