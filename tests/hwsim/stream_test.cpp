// Nets whose rows stream through the cores in slabs: what comes out of byte memories is what the exact engine makes.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>

#include "hwsim/map/mapping_file.hpp"
#include "hwsim/report/account.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/stream_nets.hpp"
#include "tests/hwsim/stream_run.hpp"
#include "tests/unit/block_graphs.hpp"

namespace taskspec::stream_test {

using tests::run_beside_engine;
using tests::StreamRun;
using tests::tianjicx;
using tests::told;
using Graph = std::shared_ptr<const BlockGraph>;

TEST_CASE("a convolution whose rows come in batches keeps some of them in a ring [chip-stream]") {
  for (std::int64_t slabs : {2, 3, 5, 16}) {
    CAPTURE(slabs);
    const StreamRun run = run_beside_engine(std::make_shared<const BlockGraph>(tests::conv_graph(16, 12, 32, 64, true)),
                                            {.chip = tianjicx(), .slabs = slabs});
    CHECK(run.most_phases >= static_cast<std::size_t>(slabs));
    CHECK(run.most_phases <= static_cast<std::size_t>(slabs) + 1);  // the row that the last window waited for
    CHECK(run.rings > 0);
    CHECK(run.pipelines > 0);
    const ChipTiming timing = time_program(*run.program, {}).value_or_throw();
    CHECK(timing.interval > 0);
  }
}

TEST_CASE("more batches of rows than a core has phases are refused, fewer run [chip-stream]") {
  const ChipNet net =
      chip_net(std::make_shared<const BlockGraph>(tests::conv_graph(40, 4, 16, 32, true))).value_or_throw();
  const Result<ChipProgram> refused = map_net(net, {.chip = tianjicx(), .slabs = 40});
  REQUIRE(!refused);
  const Diag& diag = refused.diags().items().front();
  CHECK(diag.code == Code("E4046"));
  CHECK_MESSAGE(diag.message.find("'conv' would come and go in 41 phases, 32 are possible") != std::string::npos,
                diag.message);
  CHECK(map_net(net, {.chip = tianjicx(), .slabs = 31}));
}

TEST_CASE("sums of rows that the soma reads at once are kept in a few rows, and take less time [chip-stream]") {
  // All sums of 24 x 32 x 32 would be 98,304 bytes, beside an input of 12,288 and a result of 24,576.
  const auto graph = std::make_shared<const BlockGraph>(tests::conv_graph(24, 32, 8, 32, true));
  const StreamRun run = run_beside_engine(graph, {.chip = tianjicx(), .cores = 1});
  REQUIRE(run.program->cores.size() == 1);
  const ChipPhase& phase = run.program->cores[0].phases[0];
  REQUIRE(phase.pipeline);
  const ChipBuffer& sums = run.program->cores[0].buffers[static_cast<std::size_t>(phase.axon->result)];
  CHECK(sums.bytes == 32 * 128);
  const std::int64_t axon = phase.axon->cycles, soma = phase.soma->cycles;
  const std::int64_t fill = 6 + (axon - 6 + 23) / 24;
  CHECK(computed_at(phase, 6) == std::max(fill + soma, axon + (soma + 23) / 24));
  CHECK(computed_at(phase, 6) < axon + soma);
}

TEST_CASE("weights of 32 outputs that fit no core are cut along r, and their sums are added [chip-stream]") {
  tests::NetBuilder net("deep");
  net.output(net.conv(net.input(4, 4, 512), {.f = 64, .kernel = 3, .pad = 1}));
  const Graph graph = std::move(net).graph();
  const StreamRun run = run_beside_engine(graph, {.chip = tianjicx(), .blocks = standard_blocks()});
  CHECK(run.program->net.works.size() == 4);  // two parts, their sum, the cut
  const Result<ChipProgram> refused = map_net(chip_net(graph).value_or_throw(), {.chip = tianjicx()});
  REQUIRE(!refused);
  CHECK(refused.diags().items().front().code == Code("E4041"));
}

TEST_CASE("sums stay whole while they fit a core, to its last bytes, and are cut from there on [chip-stream]") {
  auto wide = [](std::int64_t r) {
    tests::NetBuilder net("wide");
    net.output(net.products(net.input(1, 1, r), 32));
    return std::move(net).graph();
  };
  auto cuts = [&](std::int64_t r, CutsWhen when) {
    return sum_cuts(chip_net(wide(r)).value_or_throw(), *tianjicx(), 160, when);
  };
  std::int64_t r = 3072;  // three quarters of the banks
  CHECK(cuts(r, CutsWhen::early).empty());
  CHECK(cuts(r + 16, CutsWhen::early).size() == 1);
  while (cuts(r + 16, CutsWhen::needed).empty()) r += 16;
  const StreamRun whole = run_beside_engine(wide(r), {.chip = tianjicx(), .cores = 1, .blocks = standard_blocks()}, 1);
  CHECK(whole.program->net.works.size() == 1);
  CHECK(r * 32 + r + 32 * 4 == 131072);  // weights, input and sums in both large banks; results and packets beside them
  const StreamRun cut = run_beside_engine(wide(r + 16), {.chip = tianjicx(), .blocks = standard_blocks()}, 1);
  CHECK(cut.program->net.works.size() == 3);
  CHECK(!map_net(chip_net(wide(r + 16)).value_or_throw(), {.chip = tianjicx()}));
}

TEST_CASE("chains, skips, pools and strides stream [chip-stream]") {
  tests::NetBuilder net("body");
  BlockId at = net.conv(net.input(32, 32, 3), {.f = 32, .kernel = 7, .stride = 2, .pad = 3});
  at = net.pool(at, 3, 2, 1);
  const BlockId main =
      net.conv(net.conv(at, {.f = 32, .kernel = 3, .pad = 1}), {.f = 32, .kernel = 3, .pad = 1, .relu = false});
  at = net.sum(main, at);
  const BlockId other = net.conv(at, {.f = 64, .kernel = 3, .stride = 2, .pad = 1});
  at = net.sum(net.conv(other, {.f = 64, .kernel = 3, .pad = 1, .relu = false}), net.conv(at, {.f = 64, .stride = 2}));
  net.output(net.products(net.average(at), 10));
  const Graph graph = std::move(net).graph();
  for (std::int64_t slabs : {2, 4, 8, 16, 24}) {
    CAPTURE(slabs);
    const StreamRun run = run_beside_engine(graph, {.chip = tianjicx(), .slabs = slabs});
    const ChipTiming timing = time_program(*run.program, {}).value_or_throw();
    MESSAGE(slabs << " slabs: " << run.program->cores.size() << " cores, latency " << timing.latency << ", interval "
                  << timing.interval);
  }
}

TEST_CASE("where rows stream, less latency and energy are looked for among numbers of batches [chip-stream]") {
  tests::NetBuilder net("rows");
  BlockId at = net.conv(net.input(32, 32, 8), {.f = 64, .kernel = 3, .pad = 1});
  at = net.conv(net.conv(at, {.f = 64, .kernel = 3, .pad = 1}), {.f = 32, .stride = 2});
  net.output(at);
  const ChipNet made = chip_net(std::move(net).graph()).value_or_throw();
  auto mapping = [&](MapObjective objective) {
    return ChipMapping::make(made, {.chip = tianjicx(), .cores = 4, .objective = objective}).value_or_throw();
  };
  auto latency = [](const ChipMapping& m) {
    return time_program(m.program().value_or_throw(), {.frames = 1}).value_or_throw().latency;
  };
  const ChipMapping fast = mapping(MapObjective::throughput), soon = mapping(MapObjective::latency),
                    frugal = mapping(MapObjective::energy);
  REQUIRE(fast.decisions().slabs > 1);
  CHECK(latency(soon) < latency(fast));
  for (const std::int64_t slabs : {2, 4, 7, 8, 14, 16, 24, 28, 32}) {
    CAPTURE(slabs);
    const MapOptions so_many{.chip = tianjicx(), .cores = 4, .objective = MapObjective::energy, .slabs = slabs};
    if (const Result<ChipMapping> other = ChipMapping::make(made, so_many))
      CHECK(frugal.estimate().energy <= other->estimate().energy);
  }
}

TEST_CASE("an attention block: weights that are computed come in packets like inputs [chip-stream]") {
  const StreamRun run = run_beside_engine(tests::attention(32, 64), {.chip = tianjicx()});
  const ChipTiming timing = time_program(*run.program, {}).value_or_throw();
  MESSAGE(run.program->cores.size() << " cores, latency " << timing.latency << ", interval " << timing.interval);
}

TEST_CASE("slices of features that come together share a receive buffer and a group of cores [chip-stream]") {
  tests::NetBuilder net("slices");
  const BlockId from = net.conv(net.input(12, 12, 8), {.f = 96});
  net.output(net.conv(net.depthwise(from, 2), {.f = 32}));
  const StreamRun run = run_beside_engine(std::move(net).graph(), {.chip = tianjicx(), .slabs = 4});
  CHECK(run.program->groups == 3);
  for (const ChipCore& core : run.program->cores)
    CHECK(std::ranges::count(core.buffers, BufferUse::receive, &ChipBuffer::use) == 1);
}

TEST_CASE("slabs of rows go to slices of features as a multicast, each at its time [chip-stream]") {
  tests::NetBuilder net("wide");
  net.output(net.conv(net.conv(net.input(12, 4, 8), {.f = 32}), {.f = 320, .kernel = 3, .pad = 1}));
  const StreamRun run = run_beside_engine(std::move(net).graph(), {.chip = tianjicx(), .slabs = 4});
  std::size_t chained = 0;
  for (const ChipMessage& message : run.program->messages) {
    if (message.behind == ChipMessage::no_message) continue;
    ++chained;
    const ChipMessage& before = run.program->messages[static_cast<std::size_t>(message.behind)];
    CHECK(message.from_phase == before.from_phase);
  }
  CHECK(chained >= 4);
  CHECK(time_program(*run.program, {}).value_or_throw().interval > 0);
}

TEST_CASE("what cannot stream is refused with the block and what is in its way [chip-stream] [chip-refuse]") {
  tests::NetBuilder net("whole");
  net.output(net.products(net.conv(net.input(8, 8, 32), {.f = 32}), 32));
  const auto graph = std::move(net).graph();
  ChipMapping m = ChipMapping::make(chip_net(graph).value_or_throw(), {.chip = tianjicx()}).value_or_throw();
  MapDecisions rows = m.decisions();
  rows.slabs = 4;
  rows.units[1].streams = true;
  const ChipMapping::Done done = m.take(rows);
  REQUIRE(!done);
  CHECK(told(done.diags()) == "E4049 'fc7' cannot stream: 'fc7' makes no rows");
  rows.units[1].streams = false;
  rows.slabs = 9;
  const ChipMapping::Done many = m.take(rows);
  REQUIRE(!many);
  CHECK(told(many.diags()) == "E4049 inputs come in 1 to 8 batches of rows (slabs), not 9: the longest has 8 rows");
  CHECK(told(map_net(m.net(), {.chip = tianjicx(), .slabs = 9}).diags()).starts_with("E4040 inputs come in 1 to 8"));
  CHECK(
      told(map_net(m.net(), {.chip = tianjicx(), .depth = 3}).diags()).starts_with("E4040 a receive buffer has room"));
}

TEST_CASE("a mapping whose rows stream is kept, taken again and refuses cuts along rows [chip-stream]") {
  tests::NetBuilder net("slices");
  net.output(net.conv(net.depthwise(net.conv(net.input(12, 12, 8), {.f = 96}), 2), {.f = 32}));
  const ChipNet made = chip_net(std::move(net).graph()).value_or_throw();
  const MapOptions options{.chip = tianjicx(), .slabs = 4};
  ChipMapping m = ChipMapping::make(made, options).value_or_throw();
  CHECK(m.decisions().slabs == 4);
  CHECK(m.from_scratch() == m.estimate());
  const ChipProgram first = map_net(made, options).value_or_throw(), second = m.program().value_or_throw();
  CHECK(first.cores.size() == second.cores.size());
  CHECK(first.messages.size() == second.messages.size());
  CHECK(time_program(first, {}).value_or_throw().interval == time_program(second, {}).value_or_throw().interval);
  const MapFile kept = read_mapping(mapping_json(m), "kept.json").value_or_throw();
  CHECK(apply(kept, made, {.chip = tianjicx()}).value_or_throw().decisions() == m.decisions());
  const std::string unit = m.name_of(m.decisions().units.size() - 1);
  const ChipMapping::Done rows = m.split(unit, {.y = 2});
  REQUIRE(!rows);
  CHECK(rows.diags().items().front().code == Code("E4049"));
  CHECK_MESSAGE(rows.diags().items().front().message.find("rows are not cut") != std::string::npos, told(rows.diags()));
  // On one core with another it takes phases of its own.
  MapDecisions mixed = m.decisions();
  mixed.units[0].group = mixed.units.back().group;
  mixed.units[0].cores = mixed.units.back().cores;
  mixed.units[0].grid = mixed.units.back().grid;
  const ChipMapping::Done both = m.take(mixed);
  REQUIRE(!both);
  CHECK_MESSAGE(told(both.diags()).find("would compute") != std::string::npos, told(both.diags()));
}

namespace {

const bool is_slow = std::getenv("TASKSPEC_SLOW") != nullptr;

void map_and_run(const Graph& graph, const MapOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const ChipNet net = chip_net(graph).value_or_throw();
  const double flat = seconds();
  Result<ChipProgram> mapped = map_net(net, options);
  REQUIRE_MESSAGE(mapped, (mapped ? "" : told(mapped.diags())));
  const double time = seconds();
  MESSAGE("net " << flat << " s, mapped " << time << " s, " << mapped->cores.size() << " cores, "
                 << mapped->messages.size() << " messages");
  const ChipTiming timing = time_program(*mapped, {}).value_or_throw();
  MESSAGE("latency " << timing.latency << ", interval " << timing.interval << ", timed in " << seconds() - time
                     << " s");
  for (const LayerRow& row : account_of(*mapped, timing).layers)
    MESSAGE(row.name << ": " << row.cores << " cores, " << row.cycles << " clk, " << row.packets << " packets");
  const double before = seconds();
  run_beside_engine(graph, options, 1);
  MESSAGE("behaviour and engine " << seconds() - before << " s");
}

}  // namespace

TEST_CASE("ResNet-18 streams through the cores of two chips [chip-stream]" * doctest::skip(!is_slow)) {
  map_and_run(tests::resnet({}), {.chip = tianjicx(), .chips = {2, 1}, .blocks = standard_blocks()});
}

TEST_CASE("ResNet-50 streams through the cores of five chips [chip-stream]" * doctest::skip(!is_slow)) {
  map_and_run(tests::resnet({.blocks = {3, 4, 6, 3}, .bottleneck = true}),
              {.chip = tianjicx(), .chips = {5, 1}, .blocks = standard_blocks()});
}

TEST_CASE("MobileNetV2 streams through the cores of chips [chip-stream]" * doctest::skip(!is_slow)) {
  map_and_run(tests::mobilenet(224), {.chip = tianjicx(), .chips = {3, 1}, .blocks = standard_blocks()});
}

}  // namespace taskspec::stream_test
