// Rows that stream in nets with delays, states and loops, with double buffers, step groups and mode A2S2, and several
// streams on one core: what comes out of byte memories is what the exact engine makes, and the clock goes on.
#include <doctest/doctest.h>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapping_file.hpp"
#include "hwsim/time/clock.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/stream_nets.hpp"
#include "tests/hwsim/stream_run.hpp"

namespace taskspec::stream_forms_test {
using tests::NetBuilder;
using tests::run_beside_engine;
using tests::run_program;
using tests::StreamRun;
using tests::tianjicx;
using tests::told;

namespace {

using Graph = std::shared_ptr<const BlockGraph>;

// y(t) = sum of x(t) and y(t - delay), and beside it x(t) with x(t - 2), through convolutions.
Graph net_with_delays(std::int32_t delay, bool has_initial) {
  NetBuilder net("late");
  const BlockId x = net.conv(net.input(12, 8, 16), {.f = 32, .kernel = 3, .pad = 1});
  const BlockId late = net.held(x);
  const BlockId sum = net.sum(x, late, false);
  net.delay(sum, late, delay, has_initial);
  const BlockId before = net.held(x);
  net.delay(x, before, 2, !has_initial);
  net.output(net.conv(net.sum(sum, before, false), {.f = 32, .kernel = 3, .pad = 1}));
  return std::move(net).graph();
}

Graph net_with_neurons() {
  NetBuilder net("spikes");
  const BlockId first = net.neurons(net.conv(net.input(12, 8, 16), {.f = 32, .kernel = 3, .pad = 1, .cuts = false}));
  net.output(net.neurons(net.conv(first, {.f = 64, .kernel = 3, .stride = 2, .pad = 1, .cuts = false})));
  return std::move(net).graph();
}

Graph chain_of(int layers) {
  NetBuilder net("chain");
  BlockId at = net.input(16, 8, 32);
  for (int i = 0; i < layers; ++i) at = net.conv(at, {.f = 32, .kernel = 3, .pad = 1});
  net.output(at);
  return std::move(net).graph();
}

ChipTiming timed(const ChipProgram& program, NocModel noc = NocModel::contended) {
  Result<ChipTiming> timing = time_program(program, {.noc = noc});
  REQUIRE_MESSAGE(timing, (timing ? "" : told(timing.diags())));
  CHECK(timing->interval > 0);
  CHECK(timing->latency > 0);
  return *std::move(timing);
}

// Contended against cycle by cycle, of the whole run.
void check_models(const ChipProgram& program) {
  const std::int64_t contended = timed(program).latency, flits = timed(program, NocModel::flit_all).latency;
  CHECK(std::abs(contended - flits) * 20 <= flits);
}

}  // namespace

TEST_CASE("what is read steps later stays in a ring that goes on from step to step [chip-stream]") {
  for (const std::int32_t delay : {1, 2, 3})
    for (const std::int64_t slabs : {1, 2, 4, 7, 12}) {
      CAPTURE(delay);
      CAPTURE(slabs);
      const StreamRun run =
          run_beside_engine(net_with_delays(delay, delay == 2), {.chip = tianjicx(), .slabs = slabs}, 6);
      if (slabs > 1) CHECK(run.long_rings >= 2);
      timed(*run.program);
    }
  const StreamRun run = run_beside_engine(net_with_delays(1, true), {.chip = tianjicx(), .slabs = 4}, 1);
  for (const ChipCore& core : run.program->cores)
    for (const ChipBuffer& ring : core.buffers)
      if (ring.step_rows > 0) CHECK(ring.kept_rows < 3 * ring.step_rows);  // one or two steps, and what comes meanwhile
  check_models(*run.program);
}

TEST_CASE("neurons in rows keep their states, row by row [chip-stream]") {
  const Graph graph = net_with_neurons();
  for (const std::int64_t slabs : {2, 3, 4, 12}) {
    CAPTURE(slabs);
    const StreamRun run = run_beside_engine(graph, {.chip = tianjicx(), .slabs = slabs}, 5);
    CHECK(run.rings > 0);
    check_models(*run.program);
  }
  // States are put together from the rows, and can be set.
  ChipMachine machine(std::make_shared<const ChipProgram>(
      map_net(chip_net(graph).value_or_throw(), {.chip = tianjicx(), .slabs = 4}).value_or_throw()));
  for (std::size_t b = 0; b < graph->blocks.size(); ++b) {
    const BlockId id(b);
    if (!graph->is_state(id)) continue;
    Array contents = Array::make(value_type((*graph)[id]));
    for (std::int64_t i = 0; i < contents.elements(); ++i) contents.set_integer(i, i % 1000 - 500);
    machine.set_state(id, contents);
    const Array there = machine.state(id);
    for (std::int64_t i = 0; i < contents.elements(); ++i) REQUIRE(there.integer(i) == contents.integer(i));
  }
}

TEST_CASE("batches of rows have room for a second one: senders wait less [chip-stream]") {
  const Graph graph = chain_of(3);
  for (const std::int64_t slabs : {2, 4, 5, 8}) {
    CAPTURE(slabs);
    const StreamRun one = run_beside_engine(graph, {.chip = tianjicx(), .slabs = slabs}, 3);
    const StreamRun two = run_beside_engine(graph, {.chip = tianjicx(), .depth = 2, .slabs = slabs}, 3);
    CHECK(one.double_batches == 0);
    CHECK(two.double_batches > 0);
    CHECK(timed(*two.program).interval <= timed(*one.program).interval);
    check_models(*two.program);
  }
}

TEST_CASE("cores that fetch rows ahead move those of the phase before [chip-stream]") {
  for (const Graph& graph : {chain_of(3), net_with_neurons()}) {
    const StreamRun wait = run_beside_engine(graph, {.chip = tianjicx(), .depth = 2, .slabs = 4}, 3);
    const StreamRun ahead =
        run_beside_engine(graph, {.chip = tianjicx(), .depth = 2, .fetches_ahead = true, .slabs = 4}, 3);
    CHECK(wait.ahead == 0);
    CHECK(ahead.ahead > 0);
    MESSAGE("interval " << timed(*wait.program).interval << " without, " << timed(*ahead.program).interval << " with");
    check_models(*ahead.program);
  }
  // A core that reads its own rows of the step before has nothing to fetch.
  const StreamRun loop = run_beside_engine(net_with_delays(1, true),
                                           {.chip = tianjicx(), .depth = 2, .fetches_ahead = true, .slabs = 4}, 4);
  timed(*loop.program);
}

TEST_CASE("in step groups rows stream through a step, and the next one begins when all have ended it [chip-stream]") {
  for (const Graph& graph : {chain_of(3), net_with_delays(1, false), net_with_neurons()})
    for (const std::int32_t groups : {1, 2}) {
      CAPTURE(groups);
      const StreamRun alone = run_beside_engine(graph, {.chip = tianjicx(), .slabs = 4}, 3);
      const StreamRun run = run_beside_engine(graph, {.chip = tianjicx(), .step_groups = groups, .slabs = 4}, 3);
      CHECK(run.program->step_groups.size() == static_cast<std::size_t>(run.program->groups));
      const ChipTiming together = timed(*run.program);
      CHECK(together.interval >= timed(*alone.program).interval);
      if (groups == 1) CHECK(together.interval <= together.latency);
      check_models(*run.program);
    }
}

TEST_CASE("several streams share a core, each with phases of its own in every tick [chip-stream]") {
  for (const Graph& graph : {chain_of(4), net_with_delays(1, true), net_with_neurons()})
    for (const std::int32_t cores : {1, 2, 3})
      for (const std::int64_t slabs : {2, 4}) {
        CAPTURE(cores);
        CAPTURE(slabs);
        const MapOptions options{.chip = tianjicx(), .cores = cores, .slabs = slabs};
        const Result<ChipProgram> mapped = map_net(chip_net(graph).value_or_throw(), options);
        if (!mapped) continue;  // memory
        const StreamRun run = run_program(graph, *mapped, 4);
        if (cores == 1) CHECK(run.shared == 1);
        timed(*run.program);
      }
  const StreamRun few = run_beside_engine(chain_of(4), {.chip = tianjicx(), .cores = 1, .slabs = 4}, 3);
  CHECK(few.shared == 1);
  check_models(*few.program);
}

TEST_CASE("a whole unit between two streams has its phase on their core [chip-stream]") {
  NetBuilder net("mixed");
  const BlockId first = net.conv(net.input(8, 8, 16), {.f = 32, .kernel = 3, .pad = 1});
  const BlockId middle = net.conv(first, {.f = 32});
  net.output(net.sum(net.conv(middle, {.f = 32, .kernel = 3, .pad = 1}), first));
  const Graph graph = std::move(net).graph();
  ChipMapping m =
      ChipMapping::make(chip_net(graph).value_or_throw(), {.chip = tianjicx(), .slabs = 4}).value_or_throw();
  MapDecisions one = m.decisions();
  REQUIRE(one.units.size() == 4);
  for (std::size_t u = 0; u < one.units.size(); ++u) {
    one.units[u].grid = {};
    one.units[u].cores = {u == 3 ? 1 : 0};
    one.units[u].group = u == 3 ? 1 : 0;
    one.units[u].phase = u == 3 ? 0 : static_cast<std::int32_t>(u);
    one.units[u].streams = u != 1;
  }
  for (const std::int32_t depth : {1, 2})
    for (const std::int32_t step_groups : {0, 1}) {
      one.depth = depth;
      one.step_groups = step_groups;
      const ChipMapping::Done done = m.take(one);
      REQUIRE_MESSAGE(done, (done ? "" : told(done.diags())));
      CHECK(m.from_scratch() == m.estimate());
      const StreamRun run = run_program(graph, m.program().value_or_throw(), 4);
      CHECK(run.shared == 1);
      check_models(*run.program);
    }
  const MapFile kept = read_mapping(mapping_json(m), "kept.json").value_or_throw();
  CHECK(apply(kept, m.net(), {.chip = tianjicx()}).value_or_throw().decisions() == m.decisions());
  while (m.history() > 0) REQUIRE(m.undo());
  CHECK(m.decisions().units[1].streams);
}

}  // namespace taskspec::stream_forms_test
