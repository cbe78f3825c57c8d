// Approximate groups: what is taken stays within the limit, measured against the graph as it was.
#include "interp/exact/approximate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "interp/exact/engine.hpp"
#include "ir/blocks/cost.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/block_graphs.hpp"

namespace taskspec::approximate_test {
using tests::BlockGraphMaker;

namespace {

BlockShape vector(std::int64_t f) { return {.f = f}; }

// A matrix, a cut and a table, all in one group; `x` and `z` are outside.
BlockGraph small_graph(double limit, std::string metric) {
  BlockGraphMaker make("g");
  std::mt19937_64 random(4);
  const BlockId x = make.block("x", "SIFC", Precision::i8, {.r = 40}),
                w = make.block("w", "SWFC", Precision::i8, {.f = 12, .r = 40});
  const BlockId b = make.block("b", "SB", Precision::i32, vector(12)),
                dense = make.block("dense", "CVM", Precision::i32, {.f = 12, .r = 40});
  const BlockId sum = make.block("sum", "SI", Precision::i32, vector(12));
  const BlockId cut = make.block("cut", "CCMPB", Precision::i8, vector(12), {{"cmp", -128}, {"shift", 8}});
  const BlockId h = make.block("h", "SI", Precision::i8, vector(12)),
                t = make.block("t", "SB", Precision::i8, vector(4096));
  const BlockId look = make.block("look", "CLUT", Precision::i8, vector(12), {{"lut_dw", 12}});
  const BlockId wide = make.block("wide", "SI", Precision::i32, vector(12)),
                twice = make.block("twice", "CADD", Precision::i32, vector(12));
  const BlockId kept = make.block("kept", "SI", Precision::i8, vector(12)),
                z = make.block("z", "OUTPUT", Precision::i8, vector(12));
  auto& blocks = make.graph.blocks;
  blocks[w.index()].data = random_array(random, Precision::i8, {12, 40}, -60, 60);
  blocks[b.index()].data = random_array(random, Precision::i32, {12}, -900, 900);
  Array table = Array::make({Precision::i8, {4096}});
  for (std::int64_t i = 0; i < 4096; ++i)
    table.set_integer(i, std::lround(100 * std::tanh(static_cast<double>(i < 2048 ? i : i - 4096) / 300)));
  blocks[t.index()].data = table;
  make.edge(x, dense, "input");
  make.edge(w, dense, "weight");
  make.edge(b, dense, "bias");
  make.edge(dense, sum);
  make.edge(sum, cut);
  make.edge(cut, h);
  make.edge(h, twice, "input");
  make.edge(h, twice, "input2");
  make.edge(twice, wide);
  make.edge(wide, look, "input");
  make.edge(t, look, "table");
  make.edge(look, kept);
  make.edge(kept, z);
  BlockGroup group{.number = 7, .blocks = {}, .approx = limit, .metric = std::move(metric)};
  for (const BlockId id : {w, b, dense, sum, cut, h, t, look, wide, twice, kept}) group.blocks.push_back(id);
  make.graph.groups.push_back(group);
  return make.graph;
}

std::vector<BlockSample> samples() {
  std::mt19937_64 random(8);
  std::vector<BlockSample> made;
  for (int i = 0; i < 12; ++i) made.push_back({{random_array(random, Precision::i8, {40}, -50, 50)}});
  return made;
}

double l2_between(const BlockGraph& a, const BlockGraph& b) {
  ExactEngine one = ExactEngine::make(std::make_shared<BlockGraph>(a), {}).value_or_throw();
  ExactEngine two = ExactEngine::make(std::make_shared<BlockGraph>(b), {}).value_or_throw();
  double difference = 0, size = 0;
  for (const BlockSample& sample : samples()) {
    const Array x = one.run(sample[0])[0], y = two.run(sample[0])[0];
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const double d = x.number(i) - y.number(i);
      difference += d * d, size += x.number(i) * x.number(i);
    }
  }
  return std::sqrt(difference / size);
}

std::int64_t stored(const BlockGraph& graph) {
  std::int64_t bytes = 0;
  for (const TaskBlock& block : graph.blocks) bytes += stored_bytes(block);
  return bytes;
}

}  // namespace

TEST_CASE("rewrites of an approximate group stay within its limit [approximate]") {
  const BlockTable table = standard_blocks();
  std::int64_t saved_before = -1;
  for (const double limit : {0.0, 0.02, 0.4, 3.0}) {
    CAPTURE(limit);
    const BlockGraph exact = small_graph(limit, "l2");
    const Approximated made = approximate(exact, table, samples()).value_or_throw();
    CHECK(l2_between(exact, made.graph) <= limit);
    const std::int64_t saved = stored(exact) - stored(made.graph);
    CHECK(saved >= saved_before);
    saved_before = saved;
    // What is said was measured, against the exact graph and not against the one before; the last taken one is what
    // stands.
    double last = 0;
    std::int64_t said = 0;
    for (const ApproximateTrial& trial : made.trials) {
      CHECK(trial.is_taken == (trial.error <= limit && trial.bytes > 0));
      if (trial.is_taken) last = trial.error, said += trial.bytes;
    }
    CHECK(last == doctest::Approx(l2_between(exact, made.graph)));
    CHECK(said == saved);
    CHECK(made.text().find("group 7: table of 'look': 12 -> 8 bits: error") != std::string::npos);
  }
  CHECK(saved_before > 4096 - 256);
}

TEST_CASE("a small error takes the table and leaves the weights [approximate]") {
  const Approximated made = approximate(small_graph(0.1, ""), standard_blocks(), samples()).value_or_throw();
  REQUIRE(!made.trials.empty());
  CHECK(made.trials[0].rewrite == "table of 'look': 12 -> 8 bits");
  CAPTURE(made.text());
  CHECK(made.trials[0].is_taken);
  CHECK(made.trials[0].bytes == 4096 - 256);
  bool has_weights = false;
  for (const ApproximateTrial& trial : made.trials) {
    if (trial.rewrite.find("weights of 'dense'") == std::string::npos) continue;
    has_weights = true;
    CHECK(!trial.is_taken);
    CHECK(trial.error > 0.1);
  }
  CHECK(has_weights);
}

TEST_CASE("spikes in two bits lose nothing [approximate]") {
  BlockGraphMaker make("g");
  const BlockId u = make.block("u", "SI", Precision::i32, vector(64)),
                v = make.block("v", "SI", Precision::i28, vector(64));
  const BlockId fire = make.block("fire", "CLIF", Precision::i8, vector(64), {{"vth0", 20}});
  const BlockId s = make.block("s", "SIFC", Precision::i8, {.r = 64}),
                w = make.block("w", "SWFC", Precision::i8, {.f = 4, .r = 64});
  const BlockId sum = make.block("sum", "CVM", Precision::i32, {.f = 4, .r = 64}),
                z = make.block("z", "OUTPUT", Precision::i32, vector(4));
  std::mt19937_64 random(2);
  make.graph.blocks[w.index()].data = random_array(random, Precision::i8, {4, 64});
  make.edge(u, fire, "input");
  make.edge(v, fire, "state");
  make.edge(fire, s);
  make.edge(s, sum, "input");
  make.edge(w, sum, "weight");
  make.edge(sum, z);
  make.graph.groups.push_back({.number = 1, .blocks = {fire, s, sum}, .approx = 0.0, .metric = "max"});
  BlockSample steps;
  for (int i = 0; i < 8; ++i) steps.push_back({random_array(random, Precision::i32, {64}, -5, 20)});
  const Approximated made = approximate(make.graph, standard_blocks(), {steps}).value_or_throw();
  CHECK(made.text() == "group 1: values of 'fire': two bits each: error 0, saves 48 bytes: taken\n");
  CHECK(made.graph[s].precision == Precision::tern);
}

TEST_CASE("groups that cannot be measured are refused [approximate]") {
  const auto message = [](BlockGraph graph, std::vector<BlockSample> given) {
    const Result<Approximated> made = approximate(graph, standard_blocks(), given);
    REQUIRE(!made);
    CHECK(made.diags().items()[0].code == Code("E4036"));
    return made.diags().items()[0].message;
  };
  CHECK(message(small_graph(0.1, "median"), samples()) == "group 7: no metric \"median\": \"max\", \"mean\" or \"l2\"");
  CHECK(message(small_graph(-1, "max"), samples()) == "group 7: its limit is 0 or more, not -1");
  CHECK(message(small_graph(0.1, "max"), {}) == "group 7: there are no samples to measure it on");
}

}  // namespace taskspec::approximate_test
