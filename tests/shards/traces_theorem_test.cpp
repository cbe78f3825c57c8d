// Traces on the engine itself: random programs of loops, whose bodies change and end early, given as traces or found,
// with receives among the calls. What the shards analysed and what they replayed, together, orders what the exact graph
// orders, and nothing else.
#include <doctest/doctest.h>

#include <map>

#include "interp/shards/analysis/elision.hpp"
#include "interp/shards/traces/token.hpp"
#include "tests/shards/exact_judge.hpp"
#include "tests/shards/networks.hpp"
#include "tests/shards/random_programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::traces_theorem_test {

namespace {

struct Step {
  enum class Kind : std::uint8_t { operation, call, begin, end } kind;
  Operation op{};
  std::uint64_t id = 0;
};

struct Loops {
  explicit Loops(std::uint64_t seed) : grown(seed) {
    for (int i = 0; i < 6; ++i) grown.grow();
    if (grown.nodes.empty()) return;
    for (std::int64_t loops = grown.number(1, 3); loops > 0; --loops) {
      if (bodies.empty() || grown.number(0, 2) > 0) bodies.push_back(body());
      loop(grown.pick(bodies.size()));
      if (grown.number(0, 1)) some(random_program(grown, 1));
    }
  }

  // A trace that comes again behind a write of the same pieces, and in the end behind one of others: nothing but its
  // key tells that one apart.
  struct OtherKey {};
  explicit Loops(OtherKey) : grown(1) {
    const RegionId r = grown.forest.add({"R", "r", Rect::of({16}), {{"a", Precision::f64}, {"b", Precision::f64}}});
    const PartitionId quarters = blocks(grown.forest, {r}, Point::of(4)),
                      halves = blocks(grown.forest, {r}, Point::of(2));
    const auto write = [&](PartitionId partition, std::int64_t points) {
      Operation op{.domain = Rect::of({points}), .sharding = PointSharding::cyclic()};
      op.uses = {use(grown.forest, partition, {0}, Privilege::inout)};
      return op;
    };
    for (int turn = 0; turn < 8; ++turn) {
      some({turn < 7 ? write(quarters, 4) : write(halves, 2)});
      steps.push_back({Step::Kind::begin, {}, 1});
      some({write(quarters, 4)});
      steps.push_back({Step::Kind::end, {}, 1});
    }
  }

  std::vector<Operation> body() {
    std::vector<Operation> ops = random_program(grown, static_cast<std::size_t>(grown.number(1, 4)));
    if (grown.number(0, 3) == 0) {
      Operation receive{.kind = CallKind::receive, .is_counted = false, .by_owners = true};
      receive.uses = {use({grown.forest[grown.nodes[0].id].parent.root}, {0}, Privilege::in)};
      ops.push_back(receive);
    }
    return ops;
  }
  void loop(std::size_t which) {
    const bool is_given = grown.number(0, 1);
    for (std::int64_t turn = grown.number(2, 7); turn > 0; --turn) {
      if (is_given) steps.push_back({Step::Kind::begin, {}, which});
      std::vector<Operation> ops = bodies[which];
      if (grown.number(0, 7) == 0 && !ops.empty()) {
        const std::size_t at = grown.pick(ops.size());
        if (grown.number(0, 1))
          ops.resize(at);
        else
          for (const Operation& other : random_program(grown, 1)) ops[at] = other;
      }
      some(ops);
      if (is_given) steps.push_back({Step::Kind::end, {}, which});
      if (is_given && grown.number(0, 9) == 0) some(random_program(grown, 1));
    }
  }
  void some(const std::vector<Operation>& ops) {
    for (Operation op : ops) {
      op.number = number += grown.number(0, 4) ? 1 : 2;
      if (op.kind == CallKind::receive) steps.push_back({Step::Kind::call, {}, 7});
      steps.push_back({Step::Kind::operation, op});
      all.push_back(op);
    }
  }

  GrownForest grown;
  std::vector<std::vector<Operation>> bodies;
  std::vector<Step> steps;
  std::vector<Operation> all;
  std::uint64_t number = 0;
};

struct Plan {
  bool traces = true;
  bool with_carry = true;
  std::function<void(TraceSignature&)> blur{};
  CoarseStage::Elides more{};
};

struct Ran {
  JudgedOutcome outcome;
  std::uint64_t fences = 0, elided = 0, elided_more = 0;
  std::vector<Tracer::Counts> traces;
};

Ran run(const Loops& program, std::size_t shards, std::uint64_t seed, const Plan& plan) {
  TurnNetwork network(shards, seed, 8);
  Graph graph;
  std::vector<std::unique_ptr<Judge>> judges;
  std::vector<std::unique_ptr<AnalysisEngine>> engines;
  std::vector<std::size_t> issued(shards);
  // Some of what comes again is kept by who issues it, as loops of launches do, and nobody else holds it.
  std::vector<std::map<std::uint64_t, std::shared_ptr<Operation>>> kept(shards);
  const auto issue = [&](std::size_t shard, const Operation& op) {
    const std::uint64_t token = token_of(op);
    if (token % 2 == 0) return engines[shard]->issue(op);
    std::shared_ptr<Operation>& one = kept[shard][token];
    if (!one) one = std::make_shared<Operation>(op);
    one->number = op.number;
    engines[shard]->issue_again(one, token);
  };
  for (std::size_t shard = 0; shard < shards; ++shard) {
    judges.push_back(std::make_unique<Judge>(graph, shard, plan.with_carry));
    engines.push_back(std::make_unique<AnalysisEngine>(
        program.grown.forest, network.at(shard), *judges.back(),
        AnalysisEngine::Options{.more = plan.more, .coarse_in_a_turn = 2, .traces = plan.traces, .blur = plan.blur}));
  }
  auto turn = [&](std::size_t shard) {
    AnalysisEngine& engine = *engines[shard];
    for (std::size_t some = network.random()() % 3; some > 0 && issued[shard] < program.steps.size(); --some) {
      const Step& step = program.steps[issued[shard]++];
      if (step.kind == Step::Kind::operation) issue(shard, step.op);
      if (step.kind == Step::Kind::call) engine.call(step.id);
      if (step.kind == Step::Kind::begin) engine.begin_trace(step.id);
      if (step.kind == Step::Kind::end) engine.end_trace(step.id);
    }
    (void)engine.turn();
  };
  auto done = [&] {
    for (std::size_t shard = 0; shard < shards; ++shard)
      if (issued[shard] < program.steps.size() || !engines[shard]->is_idle()) return false;
    return true;
  };
  graph.outcome.hung = !network.run_until(done, turn);
  judge_union(exact_graph(program.grown.forest, program.all), graph);
  const CoarseStage::Counts& counts = engines[0]->coarse().counts();
  Ran ran{graph.outcome, counts.fences, counts.elided, counts.elided_more, {}};
  for (const auto& engine : engines) ran.traces.push_back(engine->traces());
  return ran;
}

// How many of some programs go wrong with a fault planted.
std::size_t caught(const Plan& plan, std::uint64_t programs = 200) {
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed)
    count += !run(Loops(seed), 1 + seed % 4, seed, plan).outcome.is_right();
  return count;
}

}  // namespace

TEST_CASE("[traces] [elision-prop] replayed or analysed, the shards together find the exact graph") {
  std::size_t replayed = 0, executions = 0, failed = 0;
  for (const std::uint64_t seed : random_seeds(500, 20'000)) {
    CAPTURE(seed);
    const Loops program(seed);
    const Ran ran = run(program, 1 + seed % 4, seed, {}), untraced = run(program, 1, seed, {.traces = false});
    CHECK_FALSE(ran.outcome.hung);
    CHECK(ran.outcome.invalid_steps == 0);
    CHECK(ran.outcome.out_of_time == 0);
    CHECK(ran.outcome.missing == 0);
    CHECK(ran.outcome.unordered == 0);
    CHECK(ran.outcome.untrue == 0);
    CHECK(ran.fences == untraced.fences);
    CHECK(ran.elided == untraced.elided);
    for (const Tracer::Counts& counts : ran.traces) {
      CHECK(counts.records == ran.traces[0].records);
      CHECK(counts.replayed == ran.traces[0].replayed);
    }
    replayed += ran.outcome.replayed;
    executions += ran.traces[0].replayed;
    failed += ran.traces[0].failed;
  }
  CHECK(replayed > 1000);
  CHECK(executions > 200);
  CHECK(failed > 50);
}

TEST_CASE("[traces] [elision-prop] the same where further proofs spare fences") {
  std::size_t replayed = 0, spared = 0;
  for (const std::uint64_t seed : random_seeds(200, 10'000)) {
    CAPTURE(seed);
    Loops program(seed);
    make_relatives(program.grown, program.all);
    for (std::size_t at = 0; Step & step : program.steps)
      if (step.kind == Step::Kind::operation) step.op = program.all[at++];
    const Ran ran = run(program, 1 + seed % 4, seed, {.more = elides_more}),
              untraced = run(program, 1, seed, {.traces = false, .more = elides_more});
    CHECK(ran.outcome.is_right());
    CHECK(ran.fences == untraced.fences);
    CHECK(ran.elided == untraced.elided);
    CHECK(ran.elided_more == untraced.elided_more);
    replayed += ran.traces[0].replayed;
    spared += ran.elided_more;
  }
  CHECK(replayed > 10);
  CHECK(spared > 50);
}

TEST_CASE("[traces] planted faults are seen") {
  CHECK(caught({}) == 0);
  CHECK(caught({.with_carry = false}) > 10);
  // A signature without keys; without the exact users.
  auto without_keys = [](TraceSignature& signature) {
    for (SignatureItem& item : signature) item.key = {}, item.place = 0;
    put_in_order(signature);
  };
  auto without_users = [](TraceSignature& signature) {
    std::erase_if(signature, [](const SignatureItem& item) { return item.is_exact; });
  };
  for (const std::size_t shards : {2, 3, 4}) {
    CHECK(run(Loops(Loops::OtherKey()), shards, 1, {}).outcome.is_right());
    CHECK(run(Loops(Loops::OtherKey()), shards, 1, {}).traces[0].replayed > 1);
    CHECK_FALSE(run(Loops(Loops::OtherKey()), shards, 1, {.blur = without_keys}).outcome.is_right());
  }
  CHECK(caught({.blur = without_users}) > 0);
}

}  // namespace taskspec::traces_theorem_test
