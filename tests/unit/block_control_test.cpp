// Switches, triggers and sparse storage on the exact engine: who runs, what is kept, what is left out.
#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "interp/exact/engine.hpp"
#include "ir/blocks/check.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/value.hpp"
#include "ir/json/blocks.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/block_oracle.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::block_control_test {
using tests::BlockGraphMaker;

namespace {

using Numbers = std::vector<std::int64_t>;

Array bytes(const Numbers& values) {
  return make_array(Precision::i8, {static_cast<std::int64_t>(values.size())}, values);
}

// x goes one way or the other, by its sign; one side is doubled.
struct Fork {
  BlockGraphMaker make{"fork"};
  BlockId x, z, yes, merge, sum;
  explicit Fork(std::int64_t ports) {
    const BlockShape one{.f = 1};
    x = make.block("x", "SI", Precision::i32, one);
    const BlockId p = make.block("p", "PREDICATE", Precision::i8, {.y = 1, .x = 2, .f = 1});
    const BlockId q = make.block("q", "PREDICATE", Precision::i8, {.y = 2, .x = 1, .f = 1});
    const BlockId t = make.block("t", "SS", Precision::i8, {.y = 1, .x = 2}),
                  u = make.block("u", "SS", Precision::i8, {.y = 2, .x = 1});
    const BlockId fork = make.block("fork", "SWITCH", Precision::i32, one, {{"outputs", 2}});
    yes = make.block("yes", "SI", Precision::i32, one);
    const BlockId no = make.block("no", "SI", Precision::i32, one);
    sum = make.block("sum", "CADD", Precision::i32, one);
    const BlockId twice = make.block("twice", "SI", Precision::i32, one);
    merge = make.block("merge", "SWITCH", Precision::i32, one, {{"ports", ports}});
    z = make.block("z", "OUTPUT", Precision::i32, one);
    make.edge(x, p);
    make.edge(x, q);
    make.edge(p, t);
    make.edge(q, u);
    make.edge(x, fork);
    make.edge(t, fork, "token");
    make.edge(fork, yes);
    make.edge(fork, no).from.cluster = 1;
    make.edge(yes, sum, "input");
    make.edge(yes, sum, "input2");
    make.edge(sum, twice);
    make.graph.blocks[merge.index()].branches = 2;
    make.edge(twice, merge, "input");
    make.edge(no, merge, "input2");
    make.edge(u, merge, "token");
    make.edge(merge, z);
  }
  ExactEngine engine() const {
    CHECK(check_blocks(make.graph, standard_blocks()).items().empty());
    return ExactEngine::make(std::make_shared<BlockGraph>(make.graph), {}).value_or_throw();
  }
};

std::vector<Array> one_number(std::int64_t x) { return {make_array(Precision::i32, {1}, {x})}; }

std::string failure_of(ExactEngine& engine, const std::vector<Array>& inputs) {
  try {
    engine.run(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("blocks behind a switch run when their turn is [switch]") {
  const Fork fork(1);
  ExactEngine engine = fork.engine();
  std::int64_t positive = 0;
  for (const std::int64_t x : {3, -4, 0, 7, 9, -1}) {
    CHECK(integers_of(engine.run(one_number(x))[0]) == Numbers{x > 0 ? 2 * x : x});
    positive += x > 0 ? 1 : 0;
  }
  const ExactReport report = engine.report();
  CHECK(report.rows[fork.sum.index()].runs == positive);
  CHECK(report.rows[fork.merge.index()].runs == 6);
  CHECK(report.text().find("sum: ran in 3 of 6 steps\n") != std::string::npos);
  CHECK(integers_of(engine.value(fork.yes)) == Numbers{9});  // the last that came
}

TEST_CASE("a switch that waits for all of its inputs waits for ever behind another [switch]") {
  ExactEngine engine = Fork(0).engine();
  CHECK(failure_of(engine, one_number(3)) ==
        "E4031 SWITCH 'merge' waits for input2, which does not come in step 0; input, token came");
  CHECK(failure_of(engine, one_number(-3)) ==
        "E4031 SWITCH 'merge' waits for input, which does not come in step 0; input2, token came");
}

TEST_CASE("tokens: what is dropped, what is left over, what is none [switch]") {
  for (const std::int64_t ports : {0, 1}) {
    BlockGraphMaker make("g");
    const BlockShape one{.f = 1};
    const BlockId a = make.block("a", "SI", Precision::i8, one), b = make.block("b", "SI", Precision::i8, one);
    const BlockId t = make.block("t", "SS", Precision::i8, {.y = 2, .x = 1});
    const BlockId s = make.block("s", "SWITCH", Precision::i8, one, {{"ports", ports}});
    const BlockId z = make.block("z", "OUTPUT", Precision::i8, one);
    make.graph.blocks[s.index()].branches = 2;
    make.edge(a, s, "input");
    make.edge(b, s, "input2");
    make.edge(t, s, "token");
    make.edge(s, z);
    ExactEngine engine = ExactEngine::make(std::make_shared<BlockGraph>(make.graph), {}).value_or_throw();
    auto given = [&](std::int64_t row, std::int64_t other) {
      return std::vector{bytes({5}), bytes({6}), make_array(Precision::i8, {2, 1}, {row, other})};
    };
    if (ports == 0) {
      CHECK(integers_of(engine.run(given(0, 1))[0]) == Numbers{6});
      CHECK(integers_of(engine.run(given(0, 0))[0]) == Numbers{6});  // nothing goes: the last one stays
      CHECK(integers_of(engine.run(given(1, 0))[0]) == Numbers{5});
    } else {
      CHECK(failure_of(engine, given(1, 0)) ==
            "E4032 SWITCH 's' leaves input2 over in step 0: its token does not take what came there");
    }
    CHECK(failure_of(engine, given(1, 1)).find("E4033 SWITCH 's': its token sends inputs 1 and 2 to output 1") !=
          std::string::npos);
    CHECK(failure_of(engine, given(2, 0)).find("E4033 SWITCH 's': its token has a 2 at [0, 0]") != std::string::npos);
  }
}

TEST_CASE("what is kept goes from one engine to another [switch][trigger]") {
  const Fork fork(1);
  ExactEngine one = fork.engine(), two = fork.engine(), alone = fork.engine();
  const BlockMemory memory = memory_of(fork.make.graph);
  CHECK(!memory.held.empty());
  std::vector<std::byte> room(static_cast<std::size_t>(memory.bytes));
  for (const std::int64_t x : {3, -4, 0, 7, 9, -1}) {
    ExactEngine& engine = x % 2 == 0 ? one : two;
    engine.remember(room);
    CHECK(integers_of(engine.run(one_number(x))[0]) == integers_of(alone.run(one_number(x))[0]));
    engine.save(room);
    for (const BlockId kept : {fork.yes, fork.sum, fork.merge})
      CHECK(integers_of(engine.value(kept)) == integers_of(alone.value(kept)));
  }
}

namespace {

// Neurons that run when two of five spikes came; beside them a copy of what came when they ran.
struct Sleepers {
  BlockGraphMaker make{"g"};
  BlockId p, v, fire, held, seen;
  Sleepers() {
    const BlockShape two{.f = 2};
    const BlockId u = make.block("u", "SI", Precision::i32, two), s = make.block("s", "SI", Precision::i8, {.f = 5});
    p = make.block("p", "PREDICATE", Precision::i8, {.y = 1, .x = 1, .f = 5}, {{"compare", 1}, {"cmp", 2}});
    v = make.block("v", "SI", Precision::i28, two);
    fire = make.block("fire", "CLIF", Precision::i8, two, {{"vth0", 100}});
    held = make.block("held", "SI", Precision::i8, two), seen = make.block("seen", "SI", Precision::i32, two);
    const BlockId z = make.block("z", "OUTPUT", Precision::i8, two), w = make.block("w", "OUTPUT", Precision::i32, two);
    make.edge(u, fire, "input");
    make.edge(v, fire, "state");
    make.edge(fire, held);
    make.edge(held, z);
    make.edge(u, seen);  // in the group: a copy of what came when it ran
    make.edge(seen, w);
    make.edge(s, p);
    BlockEdge trigger;
    trigger.from = {p, 0, whole(value_type(make.graph[p]).extents)};
    trigger.to = {fire, 0, whole({2})};
    trigger.trigger = true;
    make.graph.edges.push_back(trigger);
    make.graph.groups.push_back({.number = 3, .blocks = {v, fire, held, seen}, .approx = {}, .metric = {}});
  }
  ExactEngine engine() const {
    return ExactEngine::make(std::make_shared<BlockGraph>(make.graph), {.statistics = true}).value_or_throw();
  }
};

}  // namespace

TEST_CASE("a trigger lets its group run, and nothing else [trigger]") {
  Sleepers graph;
  BlockGraphMaker& make = graph.make;
  const auto [p, v, fire, held, seen] = std::tuple(graph.p, graph.v, graph.fire, graph.held, graph.seen);
  CHECK(check_blocks(make.graph, standard_blocks()).items().empty());
  ExactEngine engine = graph.engine();
  std::mt19937_64 random(6);
  Numbers potential{0, 0}, made{0, 0}, copy{0, 0};
  std::int64_t runs = 0;
  for (int step = 0; step < 60; ++step) {
    const Array input = random_array(random, Precision::i32, {2}, 0, 50),
                spikes = random_array(random, Precision::i8, {5}, 0, 1);
    const Numbers counts = integers_of(spikes);
    if (std::count(counts.begin(), counts.end(), 1) >= 2) {
      ++runs;
      copy = integers_of(input);
      for (std::size_t i = 0; i < 2; ++i) {
        potential[i] += copy[i];
        made[i] = potential[i] > 100 ? 1 : 0;
        if (made[i] == 1) potential[i] = 0;
      }
    }
    const std::vector<Array> out = engine.run(std::vector{input, spikes});
    REQUIRE(integers_of(out[0]) == made);
    REQUIRE(integers_of(out[1]) == copy);
    REQUIRE(integers_of(engine.value(v)) == potential);
  }
  CHECK(runs > 20);
  CHECK(runs < 60);
  const ExactReport report = engine.report();
  for (const BlockId id : {fire, held, seen}) CHECK(report.rows[id.index()].runs == runs);
  CHECK(report.rows[p.index()].runs == 60);
  CHECK(report.rows[fire.index()].elements == 2 * runs);
  // A block that triggers itself closes a cycle.
  make.graph.edges.back().from.block = held;
  make.graph.edges.back().from.box = whole({2});
  CHECK(check_blocks(make.graph, standard_blocks()).items()[0].code == Code("E3002"));
  make.graph.edges.back().delay = 1;
  CHECK(check_blocks(make.graph, standard_blocks()).items().empty());
}

TEST_CASE("a state that sleeps goes from one engine to another [trigger]") {
  const Sleepers graph;
  ExactEngine engines[] = {graph.engine(), graph.engine()};
  ExactEngine alone = graph.engine();
  const BlockMemory memory = memory_of(graph.make.graph);
  std::vector<std::byte> room(static_cast<std::size_t>(memory.bytes));
  Array state = Array::make(value_type(graph.make.graph[graph.v]));
  std::mt19937_64 random(16);
  for (int step = 0; step < 40; ++step) {
    const std::vector<Array> in{random_array(random, Precision::i32, {2}, 0, 50),
                                random_array(random, Precision::i8, {5}, 0, 1)};
    ExactEngine& engine = engines[random() % 2];
    engine.set_state(graph.v, state);
    engine.remember(room);
    const std::vector<Array> ours = engine.run(in), theirs = alone.run(in);
    state = engine.value(graph.v);
    engine.save(room);
    REQUIRE(integers_of(ours[0]) == integers_of(theirs[0]));
    REQUIRE(integers_of(ours[1]) == integers_of(theirs[1]));
    REQUIRE(integers_of(state) == integers_of(alone.value(graph.v)));
  }
}

TEST_CASE("sparse storage gives the values of dense storage, in order, and leaves out products [sparse]") {
  constexpr std::string_view names[] = {"CC", "CC2D", "CVM"};
  std::int64_t left_out = 0, cut = 0;
  for (std::uint64_t seed : random_seeds(150, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomBlock one = random_block(random, names[seed % 3], random() % 2 == 0);
    CAPTURE(one.block.shape.text());
    for (std::size_t c = 0; c < 2; ++c) {
      Array thin = Array::make(one.in[c].type());
      for (std::int64_t i = 0; i < thin.elements(); ++i)
        if (random() % 4 == 0) thin.set_integer(i, one.in[c].integer(i));
      one.in[c] = thin;
    }
    const BlockCase dense = one.block_case();
    for (const BlockMode mode : {BlockMode::chip, BlockMode::rabbit}) {
      auto graph = std::make_shared<BlockGraph>(dense.graph());
      const BlockAttributeDef* sparse = standard_blocks().attribute("sparse");
      for (std::size_t c = 0; c < 2; ++c)
        if (c == seed % 2 || seed % 3 == 0)
          graph->blocks[c + 1].set(*sparse, static_cast<std::int64_t>(1 + random() % 2));
      ExactEngine engine = ExactEngine::make(graph, {.mode = mode}).value_or_throw();
      engine.run(dense.inputs);
      ExactEngine plain = dense.engine({.mode = mode, .force_ordered = true});
      REQUIRE(integers_of(engine.value(BlockId(0))) == integers_of(plain.run(dense.inputs)[0]));
      REQUIRE(integers_of(engine.value(BlockId(0))) == plain_block(one.block, one.in, mode));
      const BlockRow row = engine.report().rows[0];
      REQUIRE(row.saturations == plain.report().rows[0].saturations);
      REQUIRE(row.skipped <= row.multiply_adds);
      left_out += row.skipped;
      cut += row.saturations;
    }
  }
  CHECK(left_out > 0);
  CHECK(cut > 0);
}

TEST_CASE("bytes of sparse storage, and where it begins to save some [sparse]") {
  BlockGraphMaker make("g");
  const BlockId w = make.block("w", "SWFC", Precision::i8, {.f = 32, .r = 64}, {{"sparse", 1}});
  TaskBlock& block = make.graph.blocks[w.index()];
  Array data = Array::make({Precision::i8, {32, 64}});
  for (std::int64_t i = 0; i < 100; ++i) data.set_integer(i * 20, 7);
  block.data = data;
  CHECK(stored_bytes(block) == 2048 / 8 + 100);
  CHECK(break_even_density(block) == doctest::Approx(1.0 - 1.0 / 8));
  block.set(*standard_blocks().attribute("sparse"), 2);
  CHECK(stored_bytes(block) == 100 * 3);
  CHECK(break_even_density(block) == doctest::Approx(1.0 / 3));
  block.set(*standard_blocks().attribute("sparse"), 0);
  CHECK(stored_bytes(block) == 2048);
  CHECK(break_even_density(block) == 1);
  // At the break-even density both take the same.
  for (const std::int64_t form : {1, 2}) {
    block.set(*standard_blocks().attribute("sparse"), form);
    const auto count = static_cast<std::int64_t>(2048 * break_even_density(block));
    CHECK(stored_bytes(block, count - 8) < 2048);
    CHECK(stored_bytes(block, count + 8) > 2048);
  }
  // Without data: as it is said, then as it was.
  const BlockId x = make.block("x", "SIFC", Precision::i8, {.r = 64}, {{"sparse", 1}, {"occupancy", 250}});
  CHECK(stored_bytes(make.graph[x]) == 8 + 16);
  const BlockId c = make.block("c", "CVM", Precision::i32, {.f = 32, .r = 64}),
                z = make.block("z", "OUTPUT", Precision::i32, {.f = 32});
  make.edge(x, c, "input");
  make.edge(w, c, "weight");
  make.edge(c, z);
  ExactEngine engine =
      ExactEngine::make(std::make_shared<BlockGraph>(make.graph), {.statistics = true}).value_or_throw();
  for (const std::int64_t count : {3, 11, 5}) {
    Array input = Array::make({Precision::i8, {64}});
    for (std::int64_t i = 0; i < count; ++i) input.set_integer(i * 5, 1);
    engine.run(std::vector{input});
  }
  const ExactReport report = engine.report();
  CHECK(report.rows[x.index()].bytes == 8 + 12);
  CHECK(*report.rows[x.index()].nonzeros == 11);
  CHECK(*report.rows[w.index()].nonzeros == 100);
  CHECK(report.text().find("x: 11 elements are not 0; its form saves bytes below a density of 0.875\n") !=
        std::string::npos);
}

TEST_CASE("JSON holds switches, triggers, first values of delays and limits of groups [switch][trigger][approximate]") {
  BlockGraph graph = Fork(1).make.graph;
  graph.edges[0].delay = 2;
  graph.edges[0].initial = make_array(Precision::i32, {1}, {-7});
  BlockEdge trigger = graph.edges[2];
  trigger.to = {BlockId(5), 0, whole({1})};
  trigger.trigger = true;
  graph.edges.push_back(trigger);
  graph.groups.push_back({.number = 4, .blocks = {BlockId(5), BlockId(7)}, .approx = 0.25, .metric = "mean"});
  graph.test = BlockTestConfig{.random_seed = 5, .name = "fork", .mode = 1};
  JsonText out;
  put_block_graph(out, graph);
  const JsonFile file("g.json", out.take());
  const std::shared_ptr<const BlockGraph> back = read_block_graph(file.root(), standard_blocks());
  CHECK(tests::same(graph, *back));
}

}  // namespace taskspec::block_control_test
