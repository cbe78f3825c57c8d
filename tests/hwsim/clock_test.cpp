// The clock against schedules worked out by hand.
#include "hwsim/time/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "hwsim/map/mapper.hpp"
#include "tests/hwsim/chip_nets.hpp"

namespace taskspec::clock_test {
using tests::BlockGraphMaker;

namespace {

ChipProgram mapped(const BlockGraph& graph, std::int32_t cores, std::shared_ptr<const Chip> chip = nullptr,
                   MapObjective objective = MapObjective::energy) {
  const ChipNet net = chip_net(std::make_shared<const BlockGraph>(graph)).value_or_throw();
  if (!chip) chip = tests::chip_variant("tianjicx");
  return map_net(net, {.chip = chip, .cores = cores, .objective = objective}).value_or_throw();
}

ChipTiming ideal_time(const ChipProgram& program, std::int64_t frames = 0) {
  return time_program(program, {.noc = NocModel::ideal, .frames = frames, .keeps_stages = true}).value_or_throw();
}

// Two convolutions of 3 x 3 on 8 x 8, each cut to bytes: 32 -> f -> 32 features.
BlockGraph two_layers(std::int64_t f) {
  BlockGraphMaker make("two");
  BlockId at = make.block("x", "INPUT", Precision::i8, {.y = 8, .x = 8, .f = 32});
  std::int64_t r = 32;
  for (const auto& [name, made] : {std::pair{std::string("a"), f}, {std::string("b"), std::int64_t{32}}}) {
    const BlockId held = make.block(name + "h", "SIC", Precision::i8, {.y = 8, .x = 8, .r = r});
    const BlockId weight = make.block(name + "w", "SW", Precision::i8, {.f = made, .r = r, .ky = 3, .kx = 3});
    const BlockId conv =
        make.block(name, "CC", Precision::i32, {.y = 8, .x = 8, .f = made, .r = r, .ky = 3, .kx = 3, .iy = 8, .ix = 8},
                   {{"pad_up", 1}, {"pad_down", 1}, {"pad_left", 1}, {"pad_right", 1}});
    const BlockId cut =
        make.block(name + "c", "CCMPB", Precision::i8, {.y = 8, .x = 8, .f = made}, {{"cmp", -128}, {"shift", 10}});
    const BlockId bytes = make.block(name + "s", "SI", Precision::i8, {.y = 8, .x = 8, .f = made});
    make.graph.blocks[weight.index()].data = make.data(weight, 1);
    make.edge(at, held);
    make.edge(held, conv, "input");
    make.edge(weight, conv, "weight");
    make.edge(conv, cut);
    make.edge(cut, bytes);
    at = bytes;
    r = made;
  }
  const BlockId output = make.block("y", "OUTPUT", Precision::i8, {.y = 8, .x = 8, .f = 32});
  make.edge(at, output);
  return std::move(make.graph);
}

std::int64_t soma_end(const ChipPhase& phase) { return phase.axon->cycles + (phase.soma ? phase.soma->cycles : 0); }

}  // namespace

TEST_CASE("one unit on one core: axon, then packets one per clk; the move hides behind them [chip-time]") {
  const ChipProgram program = mapped(tests::conv_graph(8, 8, 32, 32, false), 1);
  REQUIRE(program.cores.size() == 1);
  const ChipPhase& phase = program.cores[0].phases[0];
  CHECK(phase.axon->cycles == 6 + 16 * (1 + 4 + 288 + 16));  // no bias
  CHECK(phase.move_cycles == 6 + 2 * 2048 / 16);
  REQUIRE(program.messages.size() == 2);
  CHECK(program.messages[0].packets == 256);
  CHECK(program.messages[1].packets == 1024);
  CHECK(program.messages[1].heads == 1);
  const ChipTiming one = ideal_time(program, 1);
  // The input leaves from 1 to 256, arrives at 257, is moved until 519; the last sum leaves 4950 + 1025 later.
  CHECK(one.latency == 257 + 262 + 4950 + 1025 + 1);
  const ChipTiming timing = ideal_time(program);
  CHECK(timing.interval == 4950 + 1025);
  // The next frame but one enters when the move of the next one has ended, and a clk for the credit.
  CHECK(timing.latency == 3 * timing.interval - (4950 + 262 + 1) + 1);
}

TEST_CASE("messages out of memory leave one behind the other, each with its head [chip-time]") {
  BlockGraph graph = tests::conv_graph(8, 8, 32, 32, false);
  BlockEdge edge = graph.edges.back();
  graph.blocks.push_back(graph.blocks.back());
  graph.blocks.back().name = "z";
  edge.to.block = BlockId(graph.blocks.size() - 1);
  graph.edges.push_back(edge);
  const ChipProgram program = mapped(graph, 1);
  REQUIRE(program.messages.size() == 3);
  CHECK(ideal_time(program).interval == 4950 + 2 * 1025);
}

TEST_CASE("two cores are a pipeline as fast as its slowest, two phases of one core add up [chip-time]") {
  for (std::int64_t f : {32, 64, 128}) {
    CAPTURE(f);
    const BlockGraph graph = two_layers(f);
    const ChipProgram apart = mapped(graph, 2), together = mapped(graph, 1);
    REQUIRE(apart.cores.size() == 2);
    REQUIRE(together.cores.size() == 1);
    REQUIRE(together.cores[0].phases.size() == 2);
    // The first may go on when the second has moved what it was sent, and so has room again.
    const ChipPhase &a = apart.cores[0].phases[0], &b = apart.cores[1].phases[0];
    const std::int64_t slowest =
        std::max(soma_end(a) + std::max(a.move_cycles, b.move_cycles), soma_end(b) + b.move_cycles);
    std::int64_t sum = 0;
    // What phase 0 makes is sent as the soma makes it, has arrived at its end, and is moved then.
    for (const ChipPhase& phase : together.cores[0].phases) sum += soma_end(phase) + phase.move_cycles;
    CHECK(ideal_time(apart).interval >= slowest);
    CHECK(ideal_time(apart).interval <= slowest + 4);
    CHECK(ideal_time(together).interval >= sum);
    CHECK(ideal_time(together).interval <= sum + 2);
  }
}

TEST_CASE("a fast producer waits for the credit of a slow consumer [chip-time]") {
  const ChipProgram program = mapped(two_layers(32), 2);
  ChipProgram slow = program;
  slow.cores[1].phases[0].axon->cycles *= 3;
  const ChipTiming timing = ideal_time(slow);
  const std::int64_t consumer = soma_end(slow.cores[1].phases[0]) + slow.cores[1].phases[0].move_cycles;
  CHECK(timing.interval >= consumer);
  CHECK(timing.interval <= consumer + 4);
  std::vector<std::int64_t> begins;
  for (const StageTime& stage : timing.stages)
    if (stage.core == 0 && stage.stage == StageTime::Stage::axon) begins.push_back(stage.begin);
  REQUIRE(begins.size() > 4);
  CHECK(begins[4] - begins[3] == timing.interval);
}

TEST_CASE("values of the step before come round a loop in time [chip-time]") {
  BlockGraphMaker make("loop");
  const BlockShape plane{.y = 8, .x = 8, .f = 32};
  const BlockId x = make.block("x", "INPUT", Precision::i8, plane),
                late = make.block("late", "SI", Precision::i8, plane),
                sum = make.block("sum", "CADD", Precision::i32, plane),
                cut = make.block("cut", "CCMPB", Precision::i8, plane, {{"cmp", -128}}),
                y = make.block("y", "SI", Precision::i8, plane),
                out = make.block("out", "OUTPUT", Precision::i8, plane);
  make.edge(x, sum, "input");
  make.edge(late, sum, "input2");
  make.edge(sum, cut);
  make.edge(cut, y);
  make.edge(y, out);
  make.edge(y, late).delay = 1;
  const ChipProgram program = mapped(make.graph, 1);
  const ChipPhase& phase = program.cores[0].phases[0];
  // x and late are moved one behind the other, when the last packet of late is back.
  CHECK(phase.move_cycles == 6 + 4 * 2048 / 16);
  const std::int64_t interval = ideal_time(program).interval;
  CHECK(interval >= soma_end(phase) + phase.move_cycles);
  CHECK(interval <= soma_end(phase) + phase.move_cycles + 256 + 2);
}

TEST_CASE(
    "phases of fixed length: what fits takes that long, what does not is refused with core and stage [chip-time]") {
  auto chip_of = [](int length) {
    return tests::chip_variant(
        "tianjicx", {{"\"adaptive\"", "\"fixed\""},
                     {"\"phase_clk_overhead\": {\"v\": 0", "\"phase_clk\": {\"v\": " + std::to_string(length)}});
  };
  const BlockGraph graph = tests::conv_graph(8, 8, 32, 32, false);
  CHECK(ideal_time(mapped(graph, 1, chip_of(6000))).interval == 6000);
  CHECK(ideal_time(mapped(graph, 1, chip_of(5975))).interval == 5975);
  for (const auto& [length, stage] : {std::pair{5974, "router"}, {4949, "axon"}}) {
    const Result<ChipTiming> timing = time_program(mapped(graph, 1, chip_of(length)), {.noc = NocModel::ideal});
    REQUIRE(!timing);
    const Diag& diag = timing.diags().items().front();
    CHECK(diag.code == Code("E5012"));
    CHECK_MESSAGE(diag.message.find(std::string("too long since its ") + stage) != std::string::npos, diag.message);
    CHECK(diag.message.find("core 0: phase 0 takes 5975 clk") != std::string::npos);
  }
}

TEST_CASE("cores that wait for one another are told, with who waits for whom [chip-time]") {
  ChipProgram program = mapped(two_layers(32), 2);
  for (ChipPhase& phase : program.cores[0].phases) phase.sends.clear();  // nobody sends what core 1 waits for
  const Result<ChipTiming> timing = time_program(program, {.noc = NocModel::ideal});
  REQUIRE(!timing);
  const Diag& diag = timing.diags().items().front();
  CHECK(diag.code == Code("E5012"));
  CHECK(std::ranges::any_of(diag.notes, [](const std::string& note) {
    return note.find("core 1, phase 0: waits for packets of core 0") != std::string::npos;
  }));
}

TEST_CASE("all packets that are sent arrive, and queues never make them earlier [chip-time]") {
  const ChipProgram program = mapped(two_layers(128), 40, nullptr, MapObjective::throughput);
  CHECK(program.cores.size() > 8);
  std::int64_t packets = 0, flows = 0;
  for (const ChipMessage& message : program.messages) packets += message.packets, ++flows;
  const ChipTiming a = ideal_time(program, 4);
  const ChipTiming b = time_program(program, {.noc = NocModel::contended, .frames = 4}).value_or_throw();
  CHECK(a.traffic.packets == 4 * packets);
  CHECK(b.traffic.packets == 4 * packets);
  CHECK(a.traffic.hops_x == b.traffic.hops_x);
  CHECK(b.cycles >= a.cycles);
  CHECK(b.interval >= a.interval);
}

}  // namespace taskspec::clock_test
