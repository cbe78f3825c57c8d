// What spiking networks cost: ticks worked out by hand and counted one spike at a time, limits of cores, refusals.
#include <doctest/doctest.h>

#include "bench/snn_nets.hpp"
#include "hwsim/report/link_counts.hpp"
#include "hwsim/spikes/crossbar.hpp"
#include "hwsim/spikes/of_chip.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/spikes_nets.hpp"
#include "tests/hwsim/spikes_oracle.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::spikes_costs_test {

namespace {

// Round numbers, so that each part shows in a sum.
const SpikeCosts round_costs{.message_in = 1000,
                             .synapse = {7, 11, 13},
                             .access = 1,
                             .update = 20,
                             .spike = 300,
                             .message_out = 50,
                             .hop_x = 4000,
                             .hop_y = 50000,
                             .border_x = 0,
                             .border_y = 0,
                             .least_tick = 0,
                             .barrier = {{1, 600}, {2, 1000}, {4, 1400}, {29, 1800}}};

SpikeOptions accounted(const SpikeCosts& costs, const SpikeGrid& grid, int threads = 1) {
  SpikeOptions options;
  options.threads = threads;
  options.accounted = true;
  options.costs = costs;
  options.grid = grid;
  return options;
}

std::string text_of(const Diags& diags) {
  std::string text;
  for (const Diag& diag : diags.items()) {
    text += diag.code.text() + " " + diag.message + "\n";
    for (const std::string& note : diag.notes) text += "note " + note + "\n";
    if (!diag.help_text.empty()) text += "help " + diag.help_text + "\n";
  }
  return text;
}

// in -> n, all to all.
SpikingNet all_to_all(std::int32_t sources, std::int32_t targets, std::int32_t weight = 1) {
  SpikingNet net;
  net.name = "net";
  const PopulationId in = net.add({.name = "in", .shape = {.f = sources}});
  const PopulationId n = net.add({.name = "n", .shape = {.f = targets}, .model = LoihiNeurons{}});
  net.connect({.name = "w",
               .from = in,
               .to = n,
               .synapses = DenseSynapses{std::vector<std::int32_t>(
                   static_cast<std::size_t>(sources) * static_cast<std::size_t>(targets), weight)}});
  return net;
}

}  // namespace

TEST_CASE("tick times worked out by hand [snn]") {
  // Two neurons on core 0, one on core 3: one router further along x, and one along y, on a grid of two by two.
  auto net = std::make_shared<SpikingNet>();
  const PopulationId a = net->add({.name = "a",
                                   .shape = {.f = 2},
                                   .model = LoihiNeurons{.du = 4096, .dv = 4096, .threshold = 1},
                                   .bias = {100, 0}});
  const PopulationId b = net->add({.name = "b", .model = LoihiNeurons{.du = 4096, .dv = 4096, .threshold = 1}});
  net->connect(
      {.name = "w", .from = a, .to = b, .synapses = SparseSynapses{{0, 2, 3}, {0, 0, 0}, {1, 1, 1}, {}}, .delay = 1});
  const SpikePlacement placement{{{a, 0, 2, 0}, {b, 0, 1, 3}}, std::vector<SpikeUse>(4)};
  SpikeMachine machine = SpikeMachine::load(net, placement, accounted(round_costs, {.width = 2})).value_or_throw();
  const SpikeReport report = machine.run(2, {}).value_or_throw();
  // Tick 0. Core 0: neuron 0 is looked at (1), updated (20) and spikes (300), its packet leaves (50), neuron 1 is
  // looked at (1): 372. The packet left at 371 and takes 4000 + 50000. Core 3: one look, one message, two synapses:
  // 1023. Two routers are in use: a barrier of 1000.
  CHECK(report.ticks == std::vector<std::int64_t>{371 + 54000 + 1000, 371 + 54000 + 1000});
  CHECK(report.time == 2 * 55371);
  const SpikeCounts& of_a = report.slices[0];
  CHECK(of_a.access == 4);
  CHECK(of_a.updates == 2);  // neuron 1 rests
  CHECK(of_a.spikes == 2);
  CHECK(of_a.messages_out == 2);
  CHECK(of_a.hop_x == 2);
  CHECK(of_a.hop_y == 2);
  const SpikeCounts& of_b = report.slices[1];
  CHECK(of_b.messages_in == 2);
  CHECK(of_b.synapses == std::array<std::uint64_t, 3>{0, 4, 0});
  CHECK(of_b.updates == 1);  // in step 1, when the first spike has arrived
  // Without hops the slowest core decides: in tick 1 the target is updated and spikes, too, and tells nobody.
  SpikeCosts near = round_costs;
  near.hop_x = near.hop_y = 0;
  SpikeMachine close = SpikeMachine::load(net, placement, accounted(near, {.width = 2})).value_or_throw();
  CHECK(close.run(2, {}).value_or_throw().ticks == std::vector<std::int64_t>{1023 + 1000, 1023 + 320 + 1000});
}

TEST_CASE("a barrier lies on the line between two entries, and a tick is never too short [snn]") {
  CHECK(barrier_ticks(round_costs, 1) == 600);
  CHECK(barrier_ticks(round_costs, 3) == 1200);
  CHECK(barrier_ticks(round_costs, 4) == 1400);
  CHECK(barrier_ticks(round_costs, 14) == 1560);
  CHECK(barrier_ticks(round_costs, 29) == 1800);
  CHECK(barrier_ticks(round_costs, 32) == 1800);
  CHECK(barrier_ticks({}, 5) == 0);
  SpikeCosts slow = round_costs;
  slow.least_tick = 1'000'000;
  auto net = std::make_shared<SpikingNet>(all_to_all(2, 2));
  SpikeMachine machine = SpikeMachine::load(net, on_one_core(*net), accounted(slow, {})).value_or_throw();
  CHECK(machine.run(3, {}).value_or_throw().time == 3'000'000);
}

TEST_CASE("hops go along x and y of routers, and over borders of chips [snn]") {
  const SpikeGrid grid{.width = 16, .cores_per_router = 4, .chip_width = 8, .chip_height = 4};
  const auto hops_to = [&](std::int32_t core) { return hops_between(router_of(grid, 0), router_of(grid, core)); };
  CHECK(hops_to(3).x == 0);
  CHECK(hops_to(4).x == 1);
  CHECK(hops_to(4 * (16 * 5 + 9)).x == 9);
  CHECK(hops_to(4 * (16 * 5 + 9)).y == 5);
  CHECK(hops_to(4 * (16 * 5 + 9)).borders_x == 1);
  CHECK(hops_to(4 * (16 * 5 + 9)).borders_y == 1);
}

TEST_CASE("ticks and counts are those of a walk that charges one spike at a time, for any threads [snn]") {
  for (const std::uint64_t seed : random_seeds(100, 3'000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed);
    std::mt19937_64 random(seed);
    SpikeLimits limits{.neurons = between(random, 2, 40)};
    for (const SpikePopulation& population : made.net->populations)
      if (draws_random(population)) limits.neurons = std::max(limits.neurons, population.neurons());
    const SpikePlacement placement = place_spikes(*made.net, limits).value_or_throw();
    const SpikeGrid grid{.width = 3, .cores_per_router = 2, .chip_width = 2, .chip_height = 2};
    SpikeCosts costs = round_costs;
    costs.border_x = 100'000, costs.border_y = 300'000, costs.barrier.clear();
    SpikeOptions options = accounted(costs, grid);
    options.delivery.next_tick = seed % 2 == 0;
    options.delivery.allow_delay = true;
    std::optional<SpikeReport> first;
    for (const int threads : {1, 2, 4}) {
      CAPTURE(threads);
      options.threads = threads;
      SpikeMachine machine = SpikeMachine::load(made.net, placement, options).value_or_throw();
      const SpikeReport report = machine.run(made.steps, made.stimulus).value_or_throw();
      if (first) {
        CHECK(report.hash == first->hash);
        CHECK(report.slices == first->slices);
        CHECK(report.ticks == first->ticks);
        continue;
      }
      first = report;
      const SpikeSchedule& schedule = machine.schedule();
      const oracle::Truth truth = oracle::run(*made.net, schedule.delay, made.steps, made.stimulus);
      const oracle::Bill bill = oracle::bill(*made.net, truth, placement, schedule, costs, grid, made.steps);
      CHECK(report.ticks == bill.ticks);
      CHECK(report.total() == bill.total);
      CHECK(report.events == bill.total.synapses[0] + bill.total.synapses[1] + bill.total.synapses[2]);
      for (std::size_t p = 1; p < made.net->populations.size(); ++p)
        CHECK(report.recorded[p] == oracle::listed(truth.spikes[p]));
    }
  }
}

TEST_CASE("a network model gets every packet of a tick, in one order for any threads [snn]") {
  const RandomSpikes made = random_spikes(6);
  const SpikePlacement placement = place_spikes(*made.net, {.cores = 64, .neurons = 200}).value_or_throw();
  std::vector<std::vector<std::int64_t>> seen[2];
  for (const int threads : {1, 2}) {
    SpikeOptions options = accounted(round_costs, {.width = 2}, threads);
    options.network = [&](std::span<const SpikePacket> packets) {
      std::int64_t last = 0;
      for (const SpikePacket& packet : packets) {
        seen[threads - 1].push_back({packet.start, packet.from, packet.to});
        last = std::max(last, packet.start + 1'000'000);
      }
      return last;
    };
    SpikeMachine machine = SpikeMachine::load(made.net, placement, options).value_or_throw();
    const SpikeReport report = machine.run(made.steps, made.stimulus).value_or_throw();
    CHECK(seen[threads - 1].size() == report.total().messages_out);
    CHECK(report.time > 1'000'000);
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("populations are cut where a core is full, whatever fills it first [snn]") {
  const SpikingNet net = all_to_all(10, 100);
  CHECK(place_spikes(net, {.neurons = 40}).value_or_throw().cores() == 3);
  CHECK(place_spikes(net, {.synapse_bits = 8 * 10 * 30}).value_or_throw().cores() == 4);
  CHECK(place_spikes(net, {.axons_in = 10}).value_or_throw().cores() == 1);
  CHECK(place_spikes(net, {.synapse_bits = 8 * 10 * 30, .bits_per_synapse = 16}).value_or_throw().cores() == 7);
  const SpikePlacement placed = place_spikes(net, {.neurons = 40}).value_or_throw();
  CHECK(placed.slices[2] == SpikeSlice{PopulationId(1), 80, 100, 2});
  CHECK(placed.use[2].neurons == 20);
  CHECK(placed.use[2].axons_in == 10);
  CHECK(placed.use[2].synapse_bits == 8 * 200);
}

TEST_CASE("the million synapses keep to the limits of a synaptic chip on two of them [snn]") {
  const auto net = bench::random_spiking_net(10'000, 100);
  const Chip chip = load_chip("loihi").value_or_throw();
  const SpikeLimits limits = spike_limits(chip, {2, 1});
  CHECK(limits.cores == 256);
  CHECK(limits.neurons == 1024);
  CHECK(limits.axons_in == 4096);
  CHECK(limits.axons_out == 4096);
  CHECK(limits.synapse_bits == 1'048'576);
  CHECK(limits.weight_bits == 9);
  const SpikeCosts costs = spike_costs(chip);
  CHECK(std::tuple(costs.message_in, costs.access, costs.update, costs.spike, costs.message_out) ==
        std::tuple(160, 60, 37, 300, 51));
  CHECK(costs.synapse == std::array<std::int64_t, 3>{38, 47, 31});
  CHECK(costs.barrier ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 6000}, {2, 10'000}, {4, 14'000}, {29, 18'000}});
  CHECK(spike_grid(chip, {2, 1}).width == 16);
  const SpikePlacement placed = place_spikes(*net, limits).value_or_throw();
  for (const SpikeUse& use : placed.use) {
    CHECK(use.neurons <= limits.neurons);
    CHECK(use.axons_in <= limits.axons_in);
    CHECK(use.axons_out <= limits.axons_out);
    CHECK(use.synapse_bits <= limits.synapse_bits);
  }
  CHECK(placed.cores() > 128);
  const Result<SpikePlacement> refused = place_spikes(*net, spike_limits(chip, {1, 1}));
  REQUIRE(!refused);
  const std::string text = text_of(refused.diags());
  CHECK(text.find("E4042 network 'random' takes 197 cores, and there are 128") == 0);
  CHECK(text.find("note population 'n': 10,000 neurons on 197 cores, limited by axons out") != std::string::npos);
  CHECK(text.find("help chips: [2, 1] suffice\n") != std::string::npos);
  const Result<SpikePlacement> fewer = place_spikes(*net, spike_limits(chip, {2, 1}, 196));
  REQUIRE(!fewer);
  CHECK(text_of(fewer.diags()).find("help cores: 197 suffice\n") != std::string::npos);
  CHECK(place_spikes(*net, spike_limits(chip, {2, 1}, 197)));
}

TEST_CASE("refusals say what is used, what there is, and the smallest change that fits [snn][chip-refuse]") {
  SUBCASE("fan-in") {
    const Result<SpikePlacement> refused = place_spikes(all_to_all(300, 4), {.axons_in = 256});
    CHECK(text_of(refused.diags()) ==
          "E4043 population 'n': neuron 0 alone takes 300 axons, and a core of this chip has 256\n"
          "note connection 'w' brings 300 synapses\n"
          "help it fits with 44 axons less; limits/fan_in of 300 suffices\n");
    CHECK(place_spikes(all_to_all(256, 4), {.axons_in = 256}));
    CHECK(place_spikes(all_to_all(300, 4), {.axons_in = 300}));
    CHECK(!place_spikes(all_to_all(257, 4), {.axons_in = 256}));
  }
  SUBCASE("synapse memory") {
    const Result<SpikePlacement> refused = place_spikes(all_to_all(300, 4), {.synapse_bits = 2000});
    CHECK(text_of(refused.diags()) ==
          "E4043 population 'n': neuron 0 alone takes 2,400 bits of synapses, and a core of this chip has 2,000\n"
          "note connection 'w' brings 300 synapses\n"
          "help it fits with 50 synapses less; limits/synapse_bits of 2400 suffices\n");
    CHECK(place_spikes(all_to_all(300, 4), {.synapse_bits = 2400}));
    CHECK(place_spikes(all_to_all(250, 4), {.synapse_bits = 2000}));
    CHECK(!place_spikes(all_to_all(251, 4), {.synapse_bits = 2000}));
  }
  SUBCASE("one synapse, and both limits at once") {
    CHECK(text_of(place_spikes(all_to_all(10, 4), {.synapse_bits = 72}).diags()) ==
          "E4043 population 'n': neuron 0 alone takes 80 bits of synapses, and a core of this chip has 72\n"
          "note connection 'w' brings 10 synapses\n"
          "help it fits with 1 synapse less; limits/synapse_bits of 80 suffices\n");
    CHECK(text_of(place_spikes(all_to_all(10, 4), {.axons_in = 9, .synapse_bits = 48}).diags()) ==
          "E4043 population 'n': neuron 0 alone takes 10 axons, and a core of this chip has 9\n"
          "note connection 'w' brings 10 synapses\n"
          "help it fits with 4 axons less; limits/fan_in of 10 and limits/synapse_bits of 80 suffice\n");
    CHECK(place_spikes(all_to_all(6, 4), {.axons_in = 9, .synapse_bits = 48}));
    CHECK(place_spikes(all_to_all(10, 4), {.axons_in = 10, .synapse_bits = 80}));
  }
  SUBCASE("the neuron that takes most is told, and a limit that does for all") {
    SpikingNet net = all_to_all(10, 4);
    net.connections[0].synapses =
        SparseSynapses{{0, 2, 4, 6, 7, 8, 9, 9, 9, 9, 9}, {0, 2, 0, 2, 0, 2, 2, 2, 2}, {}, {}};
    auto& rows = std::get<SparseSynapses>(net.connections[0].synapses);
    rows.weights.assign(rows.targets.size(), 1);
    CHECK(text_of(place_spikes(net, {.axons_in = 2}).diags()) ==
          "E4043 population 'n': neuron 2 alone takes 6 axons, and a core of this chip has 2\n"
          "note connection 'w' brings 6 synapses\n"
          "help it fits with 4 axons less; limits/fan_in of 6 suffices\n");
    CHECK(!place_spikes(net, {.axons_in = 5}));
    CHECK(place_spikes(net, {.axons_in = 6}));
  }
  SUBCASE("memory of synaptic cores") {
    const auto small = [](const std::string& bytes) {
      return tests::chip_variant("loihi",
                                 {{"{\"v\": 131072, \"unit\": \"B\", \"src\": \"derived: {/limits/synapse_bits} / 8\"}",
                                   "{\"v\": " + bytes + ", \"unit\": \"B\", \"src\": \"assumed\"}"}});
    };
    CHECK(text_of(place_spikes(all_to_all(10, 4), spike_limits(*small("8"), {1, 1})).diags()) ==
          "E4043 population 'n': neuron 0 alone takes 90 bits of synapses, and a core of this chip has 64\n"
          "note connection 'w' brings 10 synapses\n"
          "help it fits with 3 synapses less; memory/0/bytes of 12 suffices\n");
    CHECK(place_spikes(all_to_all(7, 4), spike_limits(*small("8"), {1, 1})));
    CHECK(place_spikes(all_to_all(10, 4), spike_limits(*small("12"), {1, 1})));
    // The preset's bank follows from its bits: the file has to say both, and they go together.
    SpikeLimits preset = spike_limits(*tests::chip_variant("loihi"), {1, 1});
    preset.axons_in = no_limit;
    const std::string text = text_of(place_spikes(all_to_all(116'509, 1), preset).diags());
    CHECK(text.find("limits/synapse_bits of 1048584 and memory/0/bytes of 131073 suffice\n") != std::string::npos);
  }
  SUBCASE("width of weights") {
    const Result<SpikePlacement> refused = place_spikes(all_to_all(3, 4, -257), {.weight_bits = 9});
    CHECK(text_of(refused.diags()) ==
          "E4043 connection 'w': weight -257 takes 10 bits, and this chip has 9\n"
          "help scale its weights into -256..255, or limits/weight_bits of 10 suffices\n");
    CHECK(place_spikes(all_to_all(3, 4, -257), {.weight_bits = 10}));
    CHECK(place_spikes(all_to_all(3, 4, -256), {.weight_bits = 9}));
    CHECK(!place_spikes(all_to_all(3, 4, 256), {.weight_bits = 9}));
    CHECK(place_spikes(all_to_all(3, 4, 255), {.weight_bits = 9}));
  }
  SUBCASE("delays") {
    SpikingNet net = all_to_all(3, 4);
    net.connections[0].delay = 64;
    CHECK(text_of(place_spikes(net, {.delay = 63}).diags()) ==
          "E4043 connection 'w': a delay of 64 steps, and this chip has 63\n"
          "help at most 63, or put a population in between that passes spikes on; limits/delay_max of 64 suffices\n");
    CHECK(place_spikes(net, {.delay = 64}));
    net.connections[0].delay = 63;
    CHECK(place_spikes(net, {.delay = 63}));
  }
  SUBCASE("destinations") {
    SpikingNet net = all_to_all(3, 4);
    net.populations[0].model = TrueNorthNeurons{};
    CHECK(text_of(place_spikes(net, {.neurons = 2, .destinations = 1}).diags()) ==
          "E4043 population 'in': neuron 0 reaches 2 cores, and this chip lets it reach 1\n"
          "help it fits when its targets lie on 1 core fewer; limits/fan_out of 2 suffices\n");
    CHECK(place_spikes(net, {.neurons = 2, .destinations = 2}));
  }
  SUBCASE("random numbers in turn") {
    SpikingNet net = all_to_all(3, 40);
    net.populations[1].model = ClifNeurons{clif_block({{"vm_const", 15}}), {}, {}};
    CHECK(text_of(place_spikes(net, {.neurons = 39}).diags()) ==
          "E4041 population 'n' cannot be cut, and its 40 neurons do not fit one core: 39 neurons\n"
          "note its neurons draw their thresholds in turn from one stream of random numbers\n"
          "help make it smaller, or do without the random mask\n");
    CHECK(place_spikes(net, {.neurons = 40}));
    net.populations[1].model = ClifNeurons{clif_block({}), {}, {}};
    CHECK(place_spikes(net, {.neurons = 39}));
  }
  SUBCASE("a loop that is too short") {
    SpikingNet net = all_to_all(3, 4);
    const PopulationId n(1), m = net.add({.name = "m", .shape = {.f = 4}, .model = LoihiNeurons{}});
    net.connect({.name = "there", .from = n, .to = m, .synapses = DenseSynapses{std::vector<std::int32_t>(16, 1)}});
    net.connect(
        {.name = "back", .from = m, .to = n, .synapses = DenseSynapses{std::vector<std::int32_t>(16, 1)}, .delay = 1});
    CHECK(schedule_spikes(net, {}));
    const Result<SpikeSchedule> refused = schedule_spikes(net, {.next_tick = true});
    const std::string text = text_of(refused.diags());
    CHECK(text.find("E4041 a loop of 2 populations is delayed by 1 step: ") == 0);
    CHECK(text.find("n -> m") != std::string::npos);
    CHECK(text.find("by 1 step more, or allow it with allow_delay") != std::string::npos);
    const SpikeSchedule longer = schedule_spikes(net, {.next_tick = true, .allow_delay = true}).value_or_throw();
    CHECK(longer.delay == std::vector<std::int32_t>{0, 0, 2});
    REQUIRE(longer.notes.size() == 1);
    CHECK(longer.notes[0].find("connection 'back' is delayed by 1 step more, 2 in all: ") == 0);
    net.connections[2].delay = 2;  // what the message asks for
    CHECK(schedule_spikes(net, {.next_tick = true}));
    net.connections[2].delay = 0;
    CHECK(text_of(schedule_spikes(net, {}).diags()).find("E4041 a loop without a delay: ") == 0);
  }
}

TEST_CASE("where cores are too few, the options that fit are offered, or it is said that none do [snn][chip-refuse]") {
  const std::string cores =
      R"("cores": [{"v": 32, "unit": "1", "src": "davies2018"}, {"v": 4, "unit": "1", "src": "davies2018"}])";
  const std::string two_by_two =
      R"("cores": [{"v": 2, "unit": "1", "src": "davies2018"}, {"v": 2, "unit": "1", "src": "davies2018"}])";
  const std::string per_router = R"("cores_per_router": {"v": 4,)", one = R"("cores_per_router": {"v": 1,)";
  const auto four = [&](const std::string& joined) {
    std::vector<std::pair<std::string, std::string>> changes = {
        {cores, two_by_two}, {per_router, one}, {R"("max_chips": [8, 8])", "\"max_chips\": " + joined}};
    if (joined == "[1, 1]") {
      const std::string text = find_chip("loihi").value_or_throw().text;
      const std::size_t begin = text.find("    \"chip_packet_clk\""), end = text.find("    \"snn_packets\"");
      changes.emplace_back(text.substr(begin, end - begin), "");  // there is no border
    }
    return tests::chip_variant("loihi", changes);
  };
  const SpikingNet net = all_to_all(2, 8 * 1024);  // a core each 1024
  const auto refusal = [&](const SpikeLimits& limits) {
    const std::string text = text_of(place_spikes(net, limits).diags());
    return text.substr(text.find("help ") + 5);
  };
  const auto chip = four("[8, 8]");
  CHECK(refusal(spike_limits(*chip, {1, 1})) == "chips: [2, 1] suffice\n");
  CHECK(place_spikes(net, spike_limits(*chip, {2, 1})));
  CHECK(refusal(spike_limits(*chip, {2, 1}, 7)) == "cores: 8 suffice\n");
  CHECK(place_spikes(net, spike_limits(*chip, {2, 1}, 8)));
  CHECK(refusal(spike_limits(*chip, {1, 1}, 3)) == "chips: [2, 1] suffice, without a number of cores\n");
  CHECK(refusal(spike_limits(*four("[1, 8]"), {1, 1})) == "chips: [1, 2] suffice\n");
  CHECK(place_spikes(net, spike_limits(*four("[1, 8]"), {1, 2})));
  CHECK(refusal(spike_limits(*four("[1, 1]"), {1, 1})) ==
        "its chips cannot be joined, and one has 4 cores: a smaller net, or a chip with more\n");
  const SpikingNet large = all_to_all(2, 9 * 1024);
  CHECK(text_of(place_spikes(large, spike_limits(*four("[2, 1]"), {1, 1})).diags()) ==
        "E4042 network 'net' takes 9 cores, and there are 4\n"
        "note population 'n': 9,216 neurons on 9 cores, limited by the number of neurons\n"
        "help at most [2, 1] chips can be joined, which have 8 cores: a smaller net, or a chip with more\n");
}

TEST_CASE("spikes go over the links of the chip's own network, and across its borders [snn]") {
  int differ = 0;  // from a mesh
  for (const std::string topology : {"mesh", "bus", "fattree"}) {
    const auto chip = tests::chip_variant(
        "truenorth", {{R"("topology": {"v": "mesh")", "\"topology\": {\"v\": \"" + topology + "\""},
                      {R"("hop_clk": [{"v": 1, "unit": "clk", "src": "assumed"}, {"v": 1,)",
                       R"("hop_clk": [{"v": 3, "unit": "clk", "src": "assumed"}, {"v": 5,)"},
                      {R"("chip_hop_clk": [{"v": 32, "unit": "clk", "src": "assumed"}, {"v": 32,)",
                       R"("chip_hop_clk": [{"v": 20, "unit": "clk", "src": "assumed"}, {"v": 90,)"}});
    CAPTURE(topology);
    const ChipExtent chips{2, 2};
    const std::int32_t cores = static_cast<std::int32_t>(chip->grid.cores.area() * chips.area());
    SpikeWays ways(spike_grid(*chip, chips), cores);
    const SpikeCosts costs = spike_costs(*chip);
    LinkCounts links(*chip, chips);
    std::mt19937_64 random(5);
    for (int i = 0; i < 400; ++i) {
      const auto from = static_cast<std::int32_t>(between(random, 0, cores - 1));
      for (const std::int32_t to : {static_cast<std::int32_t>(between(random, 0, cores - 1)), from, from ^ 1}) {
        const SpikeHops hops = ways.hops(from, to);
        const PerEvent wanted = links.add(links.routes().endpoint(from), links.routes().endpoint(to), 1);
        CHECK(hops.x == wanted[EnergyEvent::hop_x]);
        CHECK(hops.y == wanted[EnergyEvent::hop_y]);
        CHECK(hops.borders() == wanted[EnergyEvent::chip]);
        CHECK(hops.latency(costs) ==
              links.routes().latency(links.routes().endpoint(from), links.routes().endpoint(to)));
        differ +=
            hops != hops_between(router_of(spike_grid(*chip, chips), from), router_of(spike_grid(*chip, chips), to));
      }
    }
  }
  CHECK(differ > 400);
  // And so they are counted when neurons spike: core 0 to core 3 of a bus is one link.
  auto net = std::make_shared<SpikingNet>();
  const PopulationId a = net->add({.name = "a",
                                   .shape = {.f = 2},
                                   .model = LoihiNeurons{.du = 4096, .dv = 4096, .threshold = 1},
                                   .bias = {100, 100}});
  const PopulationId b = net->add({.name = "b", .model = LoihiNeurons{.du = 4096, .dv = 4096, .threshold = 1}});
  net->connect({.name = "w", .from = a, .to = b, .synapses = DenseSynapses{{1, 1}}, .delay = 1});
  const SpikePlacement placement{{{a, 0, 2, 0}, {b, 0, 1, 3}}, std::vector<SpikeUse>(4)};
  const auto bus = tests::chip_variant("truenorth", {{R"("topology": {"v": "mesh")", R"("topology": {"v": "bus")"}});
  SpikeMachine machine =
      SpikeMachine::load(net, placement, accounted(round_costs, spike_grid(*bus, {1, 1}))).value_or_throw();
  const SpikeCounts counts = machine.run(2, {}).value_or_throw().total();
  CHECK(counts.messages_out == 4);
  CHECK(counts.hop_x == 4);
  CHECK(counts.hop_y == 0);
}

TEST_CASE("the axons of a crossbar get types that say the weights, or the network is refused [snn][chip-refuse]") {
  // Each source excites or inhibits, by an amount that each target has for itself.
  SpikingNet net = all_to_all(20, 10);
  auto& weights = std::get<DenseSynapses>(net.connections[0].synapses).weights;
  for (std::size_t s = 0; s < 20; ++s)
    for (std::size_t t = 0; t < 10; ++t)
      weights[s * 10 + t] = s % 3 == 0 ? -static_cast<std::int32_t>(t) - 1 : static_cast<std::int32_t>(t) + 1;
  const SpikePlacement placement = place_spikes(net, {.neurons = 4}).value_or_throw();
  const std::vector<CrossbarCore> cores = assign_axon_types(net, placement, 2).value_or_throw();
  REQUIRE(cores.size() == 3);
  for (std::size_t core = 0; core < 3; ++core) {
    CHECK(cores[core].axons.size() == 20);
    for (const CrossbarAxon& axon : cores[core].axons)
      for (std::size_t n = 0; n < cores[core].weights.size(); ++n)
        CHECK(cores[core].weights[n][static_cast<std::size_t>(axon.type)] ==
              weights[static_cast<std::size_t>(axon.neuron) * 10 + core * 4 + n]);
  }
  // Five different weights into one neuron.
  for (std::size_t s = 0; s < 5; ++s) weights[s * 10 + 9] = static_cast<std::int32_t>(100 + s);
  const Result<std::vector<CrossbarCore>> refused = assign_axon_types(net, placement, 4);
  REQUIRE(!refused);
  CHECK(text_of(refused.diags()) ==
        "E4043 core 2: its axons take 7 types, and this chip has 4\n"
        "note population 'n': neuron 9 has 7 distinct weights, and one for each type is kept\n"
        "help limits/axon_types of 7 suffices, or fewer distinct weights\n");
  CHECK(assign_axon_types(net, placement, 7));
  CHECK(!assign_axon_types(net, placement, 6));
  for (std::size_t s = 0; s < 5; ++s) weights[s * 10 + 9] = 103;
  CHECK(assign_axon_types(net, placement, 4));  // 103 from either kind of source, and the two of before
}

TEST_CASE("networks and stimuli that do not fit together are refused [snn]") {
  SpikingNet net = all_to_all(3, 4);
  const auto refused = [&](const std::string& text) {
    const std::string is = text_of(check_spiking(net));
    CHECK_MESSAGE(is.find(text) != std::string::npos, is);
  };
  SUBCASE("weights") {
    std::get<DenseSynapses>(net.connections[0].synapses).weights.pop_back();
    refused("E4006 connection 'w': 11 weights, and 'in' to 'n' takes 12");
  }
  SUBCASE("targets") {
    net.connections[0].synapses = SparseSynapses{{0, 1, 1, 1}, {4}, {1}, {}};
    refused("E4006 connection 'w': target 4 of a population of 4");
  }
  SUBCASE("rows") {
    net.connections[0].synapses = SparseSynapses{{0, 1, 0, 1}, {3}, {1}, {}};
    refused("row offsets ascend from 0 to 1");
  }
  SUBCASE("ends") {
    net.connections[0].to = PopulationId(0);
    refused("leads to 'in', whose spikes come from outside");
  }
  SUBCASE("neurons") {
    net.populations[1].model = LoihiNeurons{.du = 5000};
    refused("population 'n': du 5000 lies outside 0..4096");
  }
  SUBCASE("bias") {
    net.populations[1].bias = {1, 2};
    refused("population 'n': 2 bias for 4 neurons");
  }
  SUBCASE("a stimulus") {
    const auto shared = std::make_shared<SpikingNet>(net);
    SpikeMachine machine = SpikeMachine::load(shared, on_one_core(net), {}).value_or_throw();
    CHECK(!machine.run(2, {.trains = {{PopulationId(0), {0, 1}, {0}}}}));
    CHECK(!machine.run(1, {.trains = {{PopulationId(0), {0, 1}, {3}}}}));
    CHECK(!machine.run(1, {.trains = {{PopulationId(1), {0, 1}, {0}}}}));
    CHECK(!machine.run(3, {.currents = {{PopulationId(1), {1, 2}}}}));
    CHECK(machine.run(1, {.trains = {{PopulationId(0), {0, 1}, {2}}}, .currents = {{PopulationId(1), {1, 2, 3, 4}}}}));
  }
}

}  // namespace taskspec::spikes_costs_test
