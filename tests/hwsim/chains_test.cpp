// Ways of messages: multicasts as chains, relays, and arrays of chips. Values stay those of the engine, packets are
// conserved, and what is sent costs what its links say.
#include "hwsim/map/chains.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapping.hpp"
#include "hwsim/report/account.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/chip_schedule.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::chains_test {
using tests::ChipSchedule;

namespace {

constexpr auto no_multicast = std::pair("\"multicast\": {\"v\": true", "\"multicast\": {\"v\": false");

std::shared_ptr<const Chip> chip_with(std::string_view preset, std::vector<std::pair<std::string, std::string>> changes,
                                      bool multicast = true) {
  if (!multicast) changes.emplace_back(no_multicast);
  return tests::chip_variant(preset, changes);
}

// A sender at a place, with a message of 10 packets to each of the others; all alike.
ChipSchedule fan(const std::shared_ptr<const Chip>& chip, std::int32_t from, const std::vector<std::int32_t>& places) {
  ChipSchedule made(chip);
  const int a = made.core(from, 0, {{.axon = 10}});
  for (const std::int32_t place : places) made.message(a, 0, made.core(place, 1, {{.axon = 10}}), 0, 10);
  return made;
}

// Places in the order in which packets come there, way by way; relays as they are.
std::vector<std::vector<int>> places_of(const ChipProgram& program) {
  std::vector<std::vector<int>> places;
  for (const ChipWay& way : ways_of(program)) {
    places.emplace_back();
    for (const ChipWay::Leg& leg : way.legs) places.back().push_back(leg.place);
  }
  return places;
}

std::vector<std::vector<int>> found(ChipSchedule made) {
  const Diags faults = find_ways(made.program);
  REQUIRE(!faults.has_errors());
  const std::vector<ChipWay> ways = ways_of(made.program);
  for (const ChipCore& core : made.program.cores)
    for (const ChipPhase& phase : core.phases)
      CHECK(phase.sends.size() == (&core == &made.program.cores[0] ? ways.size() : 0));
  return places_of(made.program);
}

using Places = std::vector<std::vector<int>>;

bool equal_values(const Array& a, const Array& b) {
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return false;
  return true;
}

std::vector<Array> random_inputs(std::mt19937_64& random, const ChipProgram& program) {
  std::vector<Array> inputs;
  for (const ChipBuffer& port : program.inputs)
    inputs.push_back(random_array(random, port.layout.type.precision, port.layout.type.extents));
  return inputs;
}

std::int64_t chained(const ChipProgram& program) {
  return std::ranges::count_if(program.messages,
                               [](const ChipMessage& m) { return m.behind != ChipMessage::no_message; });
}
std::int64_t relays(const ChipProgram& program) {
  std::int64_t packets = 0;
  for (const ChipMessage& m : program.messages) packets += static_cast<std::int64_t>(m.relays.size()) * m.packets;
  return packets;
}
bool crosses_chip(const ChipMessage& m) { return m.from_core != host_core || m.to_core != host_core; }

// Runs it beside the engine, and compares what machine, clock and account say of its packets.
void check_program(std::mt19937_64& random, const std::shared_ptr<const BlockGraph>& graph, const ChipProgram& mapped) {
  auto program = std::make_shared<const ChipProgram>(mapped);
  ChipMachine machine(program);
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  constexpr int steps = 3;
  for (int step = 0; step < steps; ++step) {
    const std::vector<Array> inputs = random_inputs(random, mapped);
    const std::vector<Array> wanted = engine.run(inputs), made = machine.run(inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(equal_values(wanted[i], made[i]));
  }
  std::int64_t sent = 0, packets = 0;
  for (const ChipMessage& m : mapped.messages) {
    if (!crosses_chip(m)) continue;
    packets += m.packets;
    if (m.behind == ChipMessage::no_message) sent += m.packets;
  }
  const NocTraffic traffic = traffic_of(mapped);
  // What arrives is what was sent, and a copy for each that stands behind it, and what relays took in.
  CHECK(machine.counts().copies == steps * (packets - sent));
  CHECK(traffic.packets == packets + relays(mapped));
  std::int64_t injected = 0, ejected = 0, from_host = 0, to_host = 0;
  for (const std::int64_t n : traffic.injected) injected += n;
  for (const std::int64_t n : traffic.ejected) ejected += n;
  for (const std::int64_t n : traffic.from_host) from_host += n;
  for (const std::int64_t n : traffic.to_host) to_host += n;
  CHECK(injected + from_host == ejected + to_host);
  CHECK(ejected + to_host == traffic.packets);
  // Every model of the network carries the same.
  const ChipTiming timing = time_program(mapped, {.frames = 2}).value_or_throw();
  if (!mapped.outputs.empty()) CHECK(timing.traffic.packets <= 2 * traffic.packets);
  const PerEvent counts = account_of(mapped, timing).counts.total();
  CHECK(counts[EnergyEvent::hop_x] == traffic.hops_x);
  CHECK(counts[EnergyEvent::hop_y] == traffic.hops_y);
  CHECK(counts[EnergyEvent::chip] == traffic.crossings);
  CHECK(counts[EnergyEvent::out] == injected);
  CHECK(counts[EnergyEvent::in] == ejected);
}

// x -> CVM of so many outputs: cut along f all its pieces read the same.
BlockGraph wide_product(std::int64_t r, std::int64_t f) {
  tests::BlockGraphMaker make("wide");
  const BlockId x = make.block("x", "INPUT", Precision::i8, {.f = r}),
                h = make.block("h", "SIFC", Precision::i8, {.r = r}),
                w = make.block("w", "SWFC", Precision::i8, {.f = f, .r = r}),
                fc = make.block("fc", "CVM", Precision::i32, {.f = f, .r = r}),
                y = make.block("y", "OUTPUT", Precision::i32, {.f = f});
  make.graph.blocks[w.index()].data = make.data(w, 1);
  make.edge(x, h);
  make.edge(h, fc, "input");
  make.edge(w, fc, "weight");
  make.edge(fc, y);
  return std::move(make.graph);
}

}  // namespace

TEST_CASE("chains are greedy, and there are none where unicasts take no more links [chip-noc]") {
  const auto chip = chip_with("tianjicx", {}), without = chip_with("tianjicx", {}, false);
  // In a row: 1 + 1 + 2 links instead of 1 + 2 + 4.
  CHECK(found(fan(chip, 0, {4, 1, 2})) == Places{{1, 2, 4}});
  CHECK(found(fan(without, 0, {4, 1, 2})) == Places{{4}, {1}, {2}});
  // On both sides of the sender: 1 + 2 links in a chain, 1 + 1 by themselves.
  CHECK(found(fan(chip, 5, {4, 6})) == Places{{4}, {6}});
  // Always to the nearest, of equals the first: 5 is one away from 4, 21 from 5; 3 is left: 1 + 1 + 3 against 1 + 2
  // + 1.
  CHECK(found(fan(chip, 4, {3, 5, 21})) == Places{{3}, {5}, {21}});
  CHECK(found(fan(chip, 4, {6, 22, 38, 54})) == Places{{6, 22, 38, 54}});
  // The same core needs no link.
  ChipSchedule self = fan(chip, 0, {1, 2});
  self.message(0, 0, 0, 0, 10);
  CHECK(found(self) == Places{{1, 2}, {0}});
}

TEST_CASE("only what is alike is one multicast: bytes, places, addresses, phases, delays [chip-noc]") {
  const auto chip = chip_with("tianjicx", {});
  const Places apart{{1}, {2}}, together{{1, 2}};
  CHECK(found(fan(chip, 0, {1, 2})) == together);
  ChipSchedule made = fan(chip, 0, {1, 2});
  made.program.messages[1].runs[0].from = 8;
  CHECK(found(made) == apart);
  made = fan(chip, 0, {1, 2});
  made.program.messages[1].runs[0].to = 8;
  CHECK(found(made) == apart);
  made = fan(chip, 0, {1, 2});
  made.program.cores[2].buffers[0].address = 64;
  CHECK(found(made) == apart);
  made = fan(chip, 0, {1, 2});
  made.program.cores[2].buffers[0].slots = 2;
  CHECK(found(made) == apart);
  made = fan(chip, 0, {1, 2});
  made.program.messages[1].delay = 1;
  CHECK(found(made) == apart);
  // Ways are found anew when cores have other places.
  made = fan(chip, 0, {1, 2});
  REQUIRE(!find_ways(made.program).has_errors());
  made.program.cores[0].core = 5, made.program.cores[1].core = 4, made.program.cores[2].core = 6;
  CHECK(found(made) == Places{{4}, {6}});
}

TEST_CASE("places beyond what a head can name are reached over relays, along the route [chip-noc]") {
  auto limited = [](int low, int high, bool y_first = false) {
    std::vector<std::pair<std::string, std::string>> changes{
        {"\"offset_min\": {\"v\": -128", "\"offset_min\": {\"v\": " + std::to_string(low)},
        {"\"offset_max\": {\"v\": 127", "\"offset_max\": {\"v\": " + std::to_string(high)}};
    if (y_first) changes.emplace_back("x_first", "y_first");
    return chip_with("tianjicx", changes);
  };
  CHECK(found(fan(limited(-3, 3), 0, {10})) == Places{{3, 6, 9, 10}});
  CHECK(found(fan(limited(-4, 3), 10, {0})) == Places{{6, 2, 0}});
  CHECK(found(fan(limited(-3, 3), 0, {7 * 16 + 4})) == Places{{3, 52, 100, 116}});
  CHECK(found(fan(limited(-3, 3, true), 0, {7 * 16 + 4})) == Places{{48, 96, 115, 116}});
  CHECK(found(fan(limited(-3, 3), 0, {3})) == Places{{3}});
  // Within a chain, too.
  CHECK(found(fan(limited(-3, 3), 0, {2, 8})) == Places{{2, 5, 8}});
  // No relay helps where heads name no place on one side at all.
  ChipSchedule made = fan(limited(0, 127), 10, {0});
  const Diags faults = find_ways(made.program);
  REQUIRE(faults.has_errors());
  const Diag& diag = faults.items().front();
  CHECK(diag.code == Code("E4043"));
  CHECK(diag.message == "tianjicx: core 10 sends to core 0, -10 away along x, and heads have 0 to 127");
  CHECK(diag.help_text.find("in the chip's file limits/offset_min of -1 suffices") == 0);
  CHECK(found(fan(limited(-1, 127), 10, {8})) == Places{{9, 8}});
}

TEST_CASE("pieces that read the same get one multicast, which saves links and changes no value [chip-noc]") {
  const auto graph = std::make_shared<const BlockGraph>(wide_product(200, 512));
  const ChipNet net = chip_net(graph).value_or_throw();
  std::mt19937_64 random(1);
  std::int64_t hops[2] = {};
  for (const bool multicast : {false, true}) {
    CAPTURE(multicast);
    const ChipProgram program = map_net(net, {.chip = chip_with("tianjicx", {}, multicast)}).value_or_throw();
    REQUIRE(program.cores.size() == 16);
    CHECK(chained(program) == (multicast ? 15 : 0));
    check_program(random, graph, program);
    const NocTraffic traffic = traffic_of(program);
    hops[multicast ? 1 : 0] = traffic.hops_x + traffic.hops_y;
    // The input, 25 packets, is sent once by the host; the other 15 copies by cores.
    std::int64_t from_host = 0;
    for (const std::int64_t n : traffic.from_host) from_host += n;
    CHECK(from_host == (multicast ? 25 : 16 * 25));
  }
  CHECK(hops[1] < hops[0]);
}

TEST_CASE("random nets with and without multicasts, relays and double buffers: values, packets, energy [chip-exact]") {
  int with_chains = 0, with_relays = 0, ahead = 0;
  for (const std::uint64_t seed : random_seeds(30, 500)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
    const Result<ChipNet> net = chip_net(graph);
    if (!net) continue;
    const bool narrow = random() % 2 == 0;
    std::vector<std::pair<std::string, std::string>> changes;
    if (narrow)
      changes = {{"\"offset_min\": {\"v\": -128", "\"offset_min\": {\"v\": -2"},
                 {"\"offset_max\": {\"v\": 127", "\"offset_max\": {\"v\": 1"}};
    MapOptions options{.chip = chip_with("tianjicx", changes),
                       .chips = {1 + static_cast<std::int64_t>(random() % 2), 1}};
    options.depth = random() % 2 == 0 ? 2 : 1;
    options.fetches_ahead = options.depth == 2;
    const Result<ChipProgram> many = map_net(*net, options);
    if (!many) continue;
    with_chains += chained(*many) > 0 ? 1 : 0;
    with_relays += relays(*many) > 0 ? 1 : 0;
    for (const ChipCore& core : many->cores) ahead += core.a2s2 ? 1 : 0;
    check_program(random, graph, *many);
    options.chip = chip_with("tianjicx", changes, false);
    const ChipProgram single = map_net(*net, options).value_or_throw();
    CHECK(chained(single) == 0);
    const NocTraffic a = traffic_of(*many), b = traffic_of(single);
    CHECK(a.hops_x + a.hops_y <= b.hops_x + b.hops_y);
    if (chained(*many) > 0) CHECK(a.hops_x + a.hops_y < b.hops_x + b.hops_y);
  }
  MESSAGE(with_chains << " with multicasts, " << with_relays << " with relays, " << ahead << " cores fetch ahead");
  CHECK(with_chains > 5);
  CHECK(with_relays > 2);
  CHECK(ahead > 0);
}

TEST_CASE("double buffers take room for a second item where there is some [chip-exact]") {
  const auto graph = std::make_shared<const BlockGraph>(tests::conv_graph(8, 8, 32, 32, false));  // 2048 B come in
  const ChipNet net = chip_net(graph).value_or_throw();
  for (const auto& [area, slots] : {std::pair{4096, 2}, {4095, 1}}) {
    const auto chip = chip_with(
        "tianjicx", {{"\"receive_bytes\": {\"v\": 12288", "\"receive_bytes\": {\"v\": " + std::to_string(area)}});
    MapOptions options{.chip = chip, .cores = 1, .objective = MapObjective::energy};
    options.depth = 2;
    options.fetches_ahead = true;
    const ChipProgram program = map_net(net, options).value_or_throw();
    std::int64_t found = 0;
    for (const ChipBuffer& buffer : program.cores[0].buffers)
      if (buffer.use == BufferUse::receive) found += buffer.slots;
    CHECK(found == slots);
    CHECK(program.cores[0].a2s2 == (slots == 2));
    std::mt19937_64 random(2);
    check_program(random, graph, program);
  }
}

TEST_CASE("a net over two chips: what crosses their border is charged for and takes its time [chip-chips]") {
  // Chips of one core each, so that two units need two chips.
  const std::vector<std::pair<std::string, std::string>> one_core{
      {"[{\"v\": 16, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 10",
       "[{\"v\": 1, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 1"}};
  const auto chip = chip_with("tianjicx", one_core);
  tests::BlockGraphMaker make("pair");
  const BlockShape plane{.y = 4, .x = 4, .f = 16};
  const BlockId x = make.block("x", "INPUT", Precision::i8, plane), a = make.block("a", "CCMPB", Precision::i8, plane),
                s = make.block("s", "SI", Precision::i8, plane), b = make.block("b", "CCMPB", Precision::i8, plane),
                t = make.block("t", "SI", Precision::i8, plane), y = make.block("y", "OUTPUT", Precision::i8, plane);
  make.edge(x, a);
  make.edge(a, s);
  make.edge(s, b);
  make.edge(b, t);
  make.edge(t, y);
  const auto graph = std::make_shared<const BlockGraph>(make.graph);
  const ChipNet net = chip_net(graph).value_or_throw();
  MapOptions options{.chip = chip, .chips = {2, 1}};
  ChipMapping mapping = ChipMapping::make(net, options).value_or_throw();  // both on one chip, whose border is slow
  REQUIRE(mapping.estimate().cores == 1);
  REQUIRE(mapping.take_out("b"));
  const ChipProgram program = mapping.program().value_or_throw();
  REQUIRE(program.cores.size() == 2);
  CHECK(program.cores_there == 2);
  std::mt19937_64 random(3);
  check_program(random, graph, program);
  // 256 bytes each way: x to a, a to b, b to the host in the west. Where a is in the west, a to b and b to the host
  // cross; else x to a and a to b do.
  const ChipTiming timing = time_program(program, {.frames = 1}).value_or_throw();
  const PerEvent counts = account_of(program, timing).counts.total();
  CHECK(counts[EnergyEvent::chip] == 2 * 32);
  PerEvent crossings;
  crossings[EnergyEvent::chip] = 2 * 32;
  CHECK(energy_of(crossings, *chip) == 64 * 200 * energy_units_per_pj);
  // The same two cores on one chip.
  const auto wide = chip_with("tianjicx", {{"[{\"v\": 16, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 10",
                                            "[{\"v\": 2, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 1"}});
  const ChipProgram near = map_net(net, {.chip = wide}).value_or_throw();
  REQUIRE(near.cores.size() == 2);
  const ChipTiming close = time_program(near, {.frames = 1}).value_or_throw();
  CHECK(account_of(near, close).counts.total()[EnergyEvent::chip] == 0);
  CHECK(timing.latency >= close.latency + 2 * 31);
  // One core alone: both units in turn. With three chips there is nothing more to do than with two.
  options.cores = 1;
  const ChipProgram shared = map_net(net, options).value_or_throw();
  CHECK(shared.cores.size() == 1);
  CHECK(shared.cores[0].core == 0);
  CHECK(shared.cores_there == 1);
  check_program(random, graph, shared);
  CHECK(account_of(shared, time_program(shared, {.frames = 1}).value_or_throw()).counts.total()[EnergyEvent::chip] ==
        0);
}

TEST_CASE("the first n cores in row order, over all chips [chip-chips]") {
  const auto graph = std::make_shared<const BlockGraph>(wide_product(200, 512));
  const ChipNet net = chip_net(graph).value_or_throw();
  // Chips of 2 x 2, two side by side: rows of four.
  const auto chip = chip_with("tianjicx", {{"[{\"v\": 16, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 10",
                                            "[{\"v\": 2, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 2"}});
  std::mt19937_64 random(4);
  for (const std::int32_t cores : {1, 3, 5, 8}) {
    CAPTURE(cores);
    const ChipProgram program = map_net(net, {.chip = chip, .chips = {2, 1}, .cores = cores}).value_or_throw();
    CHECK(program.width == 4);
    CHECK(program.cores_there == cores);
    for (const ChipCore& core : program.cores) CHECK(core.core < cores);
    check_program(random, graph, program);
  }
}

}  // namespace taskspec::chains_test
