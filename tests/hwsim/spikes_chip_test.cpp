// Spiking networks on the cores of chips: steps that are run one by one, neurons that become those of another chip,
// tiles that add up partial sums, splitters, real numbers in integers.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "hwsim/report/spike_picture.hpp"
#include "hwsim/spikes/of_chip.hpp"
#include "hwsim/spikes/real_net.hpp"
#include "hwsim/spikes/splitters.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/spikes_nets.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::spikes_chip_test {

namespace {

constexpr SpikeCosts costs{.message_in = 160,
                           .synapse = {38, 47, 31},
                           .access = 60,
                           .update = 37,
                           .spike = 300,
                           .message_out = 51,
                           .hop_x = 41,
                           .hop_y = 65,
                           .border_x = 0,
                           .border_y = 0,
                           .sums_per_packet = 2,
                           .least_tick = 0,
                           .barrier = {}};

SpikeOptions next_tick(bool streamed, int threads = 1) {
  SpikeOptions options{.threads = threads, .streamed = streamed, .accounted = true};
  options.delivery = {.next_tick = true, .allow_delay = true};
  options.costs = costs;
  options.grid = {.width = 4};
  return options;
}

// The stimulus of one step.
SpikeStimulus of_step(const SpikeStimulus& all, const SpikingNet& net, std::int64_t steps, std::size_t t) {
  SpikeStimulus one;
  for (const SpikeTrain& train : all.trains) {
    SpikeTrain part{train.population, {0}, {}};
    part.neurons.assign(train.neurons.begin() + train.offsets[t], train.neurons.begin() + train.offsets[t + 1]);
    part.offsets.push_back(static_cast<std::uint32_t>(part.neurons.size()));
    one.trains.push_back(std::move(part));
  }
  for (const SpikeCurrent& current : all.currents) {
    const auto neurons = static_cast<std::size_t>(net[current.population].neurons());
    const bool is_constant = current.values.size() == neurons;
    const std::size_t begin = is_constant ? 0 : t * neurons;
    one.currents.push_back({current.population,
                            {current.values.begin() + static_cast<std::ptrdiff_t>(begin),
                             current.values.begin() + static_cast<std::ptrdiff_t>(begin + neurons)}});
    (void)steps;
  }
  return one;
}

// Spikes of a population from outside, at random.
SpikeTrain random_train(PopulationId population, std::int64_t neurons, std::int64_t steps, std::mt19937_64& random) {
  SpikeTrain train{population, {0}, {}};
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t n = 0; n < neurons; ++n)
      if (between(random, 0, 2) == 0) train.neurons.push_back(static_cast<std::uint32_t>(n));
    train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
  }
  return train;
}

std::vector<std::int32_t> random_weights(std::mt19937_64& random, std::int64_t count, std::int64_t low,
                                         std::int64_t high) {
  std::vector<std::int32_t> weights;
  for (std::int64_t i = 0; i < count; ++i) weights.push_back(static_cast<std::int32_t>(between(random, low, high)));
  return weights;
}

std::string refusal_of(const Diags& diags) {
  std::string text = diags.items().front().code.text() + " " + diags.items().front().message;
  for (const std::string& note : diags.items().front().notes) text += "\n" + note;
  return text;
}

// in -> a -> b, and b back to itself three steps later.
SpikingNet clif_net(std::mt19937_64& random, bool subtracts, std::int64_t widest) {
  SpikingNet net;
  net.name = "clifs";
  const PopulationId in = net.add({.name = "in", .shape = {.f = 20}});
  std::vector<PopulationId> all{in};
  for (const char* name : {"a", "b"}) {
    ClifNeurons model{clif_block({{"vth0", between(random, 30, 90)},
                                  {"vleaky_beta", between(random, -6, 3)},
                                  {"vr", subtracts ? 0 : between(random, -9, 9)},
                                  {"reset_mode", subtracts ? 1 : 0}}),
                      {},
                      {}};
    model.block.shape = {.f = 12};
    SpikePopulation population{.name = name, .shape = {.f = 12}, .model = model};
    population.bias = random_weights(random, 12, -2, 4);
    population.potentials = random_weights(random, 12, -20, 20);
    population.recorded = true;
    all.push_back(net.add(population));
  }
  net.connect(
      {.name = "w", .from = in, .to = all[1], .synapses = DenseSynapses{random_weights(random, 240, -widest, widest)}});
  net.connect({.name = "u",
               .from = all[1],
               .to = all[2],
               .synapses = DenseSynapses{random_weights(random, 144, -widest, widest)}});
  net.connect({.name = "back",
               .from = all[2],
               .to = all[2],
               .synapses = DenseSynapses{random_weights(random, 144, -9, 9)},
               .delay = 3});
  return net;
}

}  // namespace

TEST_CASE("steps run one by one take the ticks of one run, for any number of threads [snn][chip-snn]") {
  for (const std::uint64_t seed : random_seeds(60, 3000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed);
    SpikeLimits limits;
    limits.neurons = 16;
    const Result<SpikePlacement> placed = place_spikes(*made.net, limits);
    if (!placed) continue;  // random thresholds that cannot be cut
    SpikeMachine whole = SpikeMachine::load(made.net, *placed, next_tick(false)).value_or_throw();
    const SpikeReport all = whole.run(made.steps, made.stimulus).value_or_throw();
    std::uint64_t hash = 0;
    for (const int threads : {1, 2, 4}) {
      for (const bool contended : {false, true}) {
        SpikeOptions options = next_tick(true, threads), same = next_tick(false, threads);
        if (contended)
          options.network = same.network = [](std::span<const SpikePacket> packets) {
            std::int64_t end = 0;
            for (const SpikePacket& packet : packets) end = std::max(end, packet.start) + 7;
            return end;
          };
        SpikeMachine other = SpikeMachine::load(made.net, *placed, same).value_or_throw();
        const std::vector<std::int64_t> wanted =
            contended ? other.run(made.steps, made.stimulus).value_or_throw().ticks : all.ticks;
        SpikeMachine stepped = SpikeMachine::load(made.net, *placed, options).value_or_throw();
        std::vector<std::int64_t> ticks;
        SpikeCounts total;
        std::uint64_t spikes = 0;
        for (std::int64_t t = 0; t < made.steps; ++t) {
          const SpikeReport one =
              stepped.run(1, of_step(made.stimulus, *made.net, made.steps, static_cast<std::size_t>(t)))
                  .value_or_throw();
          REQUIRE(one.ticks.size() == 1);
          ticks.insert(ticks.end(), one.ticks.begin(), one.ticks.end());
          total += one.total();
          spikes += one.spikes;
          if (t + 1 < made.steps || contended) continue;
          if (threads == 1) hash = one.hash;
          CHECK(one.hash == hash);
        }
        for (const std::int64_t tick : stepped.open_ticks()) ticks.push_back(tick);
        CHECK(ticks == wanted);
        CHECK(total == all.total());
        CHECK(spikes == all.spikes);
      }
    }
  }
}

TEST_CASE("a CLIF without shares of itself is a neuron of loihi and of truenorth [snn][chip-snn]") {
  std::int64_t spikes = 0;
  for (const std::uint64_t seed : random_seeds(60, 3000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (const char* name : {"loihi", "truenorth"}) {
      CAPTURE(name);
      const Chip chip = load_chip(name).value_or_throw();
      const SpikingNet net = clif_net(random, std::string(name) == "truenorth" && between(random, 0, 1) == 1, 30);
      const ChipNeurons made = on_chip_neurons(net, chip).value_or_throw();
      const SpikeTrain train = random_train(PopulationId(0), 20, 40, random);
      const auto there = std::make_shared<const SpikingNet>(net), here = std::make_shared<const SpikingNet>(made.net);
      SpikeMachine blocks = SpikeMachine::load(there, on_one_core(net), {}).value_or_throw();
      SpikeMachine cores = SpikeMachine::load(here, on_one_core(made.net), {}).value_or_throw();
      const SpikeReport a = blocks.run(40, {.trains = {train}}).value_or_throw();
      const SpikeReport b = cores.run(40, {.trains = {train}}).value_or_throw();
      CHECK(a.recorded == b.recorded);
      spikes += static_cast<std::int64_t>(a.spikes);
      for (const std::size_t p : {1, 2}) {
        const std::vector<std::int32_t> is = cores.potentials(PopulationId(p)),
                                        wanted = blocks.potentials(PopulationId(p));
        for (std::size_t n = 0; n < wanted.size(); ++n) {
          CHECK(made.potentials[p].number(is[n], n) == wanted[n]);
          CHECK(made.potentials[p].integer(wanted[n], n) == is[n]);
        }
      }
    }
  }
  CHECK(spikes > 1000);
}

TEST_CASE("neurons that a chip has not are refused by name, all at once [snn][chip-refuse]") {
  SpikingNet net;
  net.name = "net";
  for (const auto& [name, attribute] :
       {std::pair{"leaks", "vleaky_adpt_en"}, {"rests", "ref_len"}, {"moves", "vth_incre"}}) {
    ClifNeurons model{clif_block({{"vth0", 9}, {attribute, 1}}), {}, {}};
    net.add({.name = name, .shape = {.f = 2}, .model = model});
  }
  net.add({.name = "good", .shape = {.f = 2}, .model = ClifNeurons{clif_block({{"vth0", 9}}), {}, {}}});
  const Result<ChipNeurons> made = on_chip_neurons(net, load_chip("loihi").value_or_throw());
  REQUIRE(!made);
  const std::string text = refusal_of(made.diags());
  CHECK(text.starts_with("E4052 3 populations of 'net' cannot be made of the loihi neurons of loihi"));
  CHECK(text.find("'leaks': it keeps") != std::string::npos);
  CHECK(text.find("'rests': it rests after a spike") != std::string::npos);
  CHECK(text.find("'moves': its threshold moves") != std::string::npos);
  CHECK(text.find("good") == std::string::npos);
}

TEST_CASE("neurons of more axons than a core has are summed by tiles [snn][chip-snn]") {
  std::mt19937_64 random(5);
  auto net = std::make_shared<SpikingNet>();
  const PopulationId in = net->add({.name = "in", .shape = {.f = 600}});
  const PopulationId n =
      net->add({.name = "n", .shape = {.f = 300}, .model = LoihiNeurons{.dv = 512, .threshold = 40}, .recorded = true});
  net->connect(
      {.name = "w", .from = in, .to = n, .synapses = DenseSynapses{random_weights(random, 600 * 300, -9, 10)}});
  const SpikeLimits limits = spike_limits(load_chip("tianjic").value_or_throw(), {1, 1});
  CHECK(limits.destinations == 256);
  const SpikePlacement placed = place_spikes(*net, limits).value_or_throw();
  // Twice three tiles of 256, 256 and 88 axons, for 256 and 44 neurons.
  REQUIRE(placed.slices.size() == 8);
  for (const std::size_t s : {0, 4}) {
    CHECK(placed.slices[s].tiles == 3);
    CHECK(placed.slices[s].neurons() == (s == 0 ? 256 : 44));
    for (const std::size_t tile : {s + 1, s + 2, s + 3}) CHECK(placed.slices[tile].neurons() == 0);
    CHECK(placed.use[s + 1].axons_in == 256);
    CHECK(placed.use[s + 3].axons_in == 88);
  }
  const SpikeTrain train = random_train(in, 600, 10, random);
  SpikeMachine cores = SpikeMachine::load(net, placed, next_tick(false)).value_or_throw();
  SpikeMachine plain = SpikeMachine::load(net, on_one_core(*net), {}).value_or_throw();
  const SpikeReport report = cores.run(10, {.trains = {train}}).value_or_throw();
  CHECK(report.recorded == plain.run(10, {.trains = {train}}).value_or_throw().recorded);
  CHECK(report.spikes > 100);
  CHECK(cores.schedule().deepest() == 2);  // a tick for the tiles, one for their sums
  // In each step each tile sends all sums, two in a packet, and hears of its axons alone.
  std::uint64_t spikes_of_tile[3] = {};
  for (const std::uint32_t neuron : train.neurons) ++spikes_of_tile[neuron / 256];
  for (const std::size_t s : {0, 4}) {
    const std::uint64_t neurons = s == 0 ? 256 : 44;
    for (std::size_t t = 0; t < 3; ++t) {
      const SpikeCounts& tile = report.slices[s + 1 + t];
      CHECK(tile.messages_out == 10 * neurons / 2);
      CHECK(tile.messages_in == spikes_of_tile[t]);
      CHECK(tile.synapses[0] == spikes_of_tile[t] * neurons);
      CHECK(tile.access == 0);
    }
    CHECK(report.slices[s].messages_in == 3 * 10 * neurons / 2);
    CHECK(report.slices[s].synapses[0] == 0);
    CHECK(report.slices[s].access == 10 * neurons);
  }
  for (const int threads : {2, 4}) {
    SpikeMachine other = SpikeMachine::load(net, placed, next_tick(false, threads)).value_or_throw();
    CHECK(other.run(10, {.trains = {train}}).value_or_throw().hash == report.hash);
  }
}

TEST_CASE("a neuron with more destinations than its chip lets it have gets splitters [snn][chip-snn]") {
  for (const std::uint64_t seed : random_seeds(30, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    SpikingNet net;
    const PopulationId in = net.add({.name = "in", .shape = {.f = 9}});
    const PopulationId a =
        net.add({.name = "a", .shape = {.f = 30}, .model = TrueNorthNeurons{.threshold = 2}, .recorded = true});
    const PopulationId b =
        net.add({.name = "b", .shape = {.f = 25}, .model = TrueNorthNeurons{.threshold = 3}, .recorded = true});
    net.connect({.name = "w", .from = in, .to = a, .synapses = DenseSynapses{random_weights(random, 270, 0, 1)}});
    SparseSynapses rows{{0}, {}, {}, {}};
    for (std::int64_t s = 0; s < 30; ++s) {
      for (std::uint32_t t = 0; t < 25; ++t)
        if (between(random, 0, 9) == 0) rows.targets.push_back(t), rows.weights.push_back(1);
      rows.offsets.push_back(static_cast<std::uint32_t>(rows.targets.size()));
    }
    net.connect({.name = "u", .from = a, .to = b, .synapses = rows});
    net.connect({.name = "back",
                 .from = b,
                 .to = a,
                 .synapses = DenseSynapses{std::vector<std::int32_t>(750, -1)},
                 .delay = 5});
    SpikeLimits limits;
    limits.neurons = 10, limits.axons_in = 40, limits.destinations = 1;
    const Result<SpikePlacement> whole = place_spikes(net, [&] {
      SpikeLimits wide = limits;
      wide.destinations = no_limit;
      return wide;
    }());
    REQUIRE(whole);
    // By hand: a neuron of `a` reaches the cores of its targets and the outside, one of `b` three cores and the
    // outside.
    std::int64_t wanted = 25 * 4;
    for (std::size_t s = 0; s < 30; ++s) {
      std::set<std::uint32_t> cores;
      for (std::uint32_t i = rows.offsets[s]; i < rows.offsets[s + 1]; ++i) cores.insert(rows.targets[i] / 10);
      if (!cores.empty()) wanted += static_cast<std::int64_t>(cores.size()) + 1;
    }
    const SplitNet split = with_splitters(net, limits).value_or_throw();
    CHECK(split.splitters == wanted);
    const SpikePlacement placed = place_spikes(split.net, limits).value_or_throw();
    const SpikeTrain train = random_train(in, 9, 30, random);
    SpikeMachine plain =
        SpikeMachine::load(std::make_shared<const SpikingNet>(net), on_one_core(net), {}).value_or_throw();
    SpikeMachine cores =
        SpikeMachine::load(std::make_shared<const SpikingNet>(split.net), placed, next_tick(false)).value_or_throw();
    const SpikeReport is = cores.run(30, {.trains = {train}}).value_or_throw(),
                      truth = plain.run(30, {.trains = {train}}).value_or_throw();
    CHECK(is.notes.empty());
    CHECK(is.recorded[a.index()] == truth.recorded[a.index()]);
    CHECK(is.recorded[b.index()] == truth.recorded[b.index()]);
    CHECK(truth.recorded[b.index()].size() > 3);
  }
}

TEST_CASE("real neurons become integers of loihi by the scales of their parameters [snn][chip-snn]") {
  constexpr std::int64_t steps = 200;
  std::mt19937_64 random(11);
  for (const bool keeps_current : {false, true}) {
    CAPTURE(keeps_current);
    RealNet net;
    net.name = "real";
    net.populations.push_back({.name = "in", .shape = {.f = 6}});
    RealNeurons lif{.name = "lif",
                    .shape = {.f = 4},
                    .kind = keeps_current ? RealNeurons::Kind::current : RealNeurons::Kind::leaky};
    lif.k_mem.assign(4, 0.04), lif.r.assign(4, 1.5), lif.leak.assign(4, 0.02), lif.threshold.assign(4, 0.1);
    lif.reset.assign(4, -0.01), lif.bias = {0.01, 0, -0.02, 0.03};
    if (keeps_current) lif.k_syn.assign(4, 0.2), lif.w_in.assign(4, 0.8);
    lif.recorded = true;
    net.populations.push_back(lif);
    std::vector<double> weights;
    for (int i = 0; i < 24; ++i) weights.push_back(static_cast<double>(between(random, -40, 100)) / 100);
    weights[3] = 1;
    net.connections.push_back(
        {{.name = "w", .from = PopulationId(0), .to = PopulationId(1), .synapses = DenseSynapses{}}, weights});
    const Chip chip = load_chip("loihi").value_or_throw();
    const ChipNeurons made = in_integers(net, chip, nullptr).value_or_throw();

    // The largest power of two with 0.1 S < 2^20 is 2^23; weights of at most 1 * gain * S / 64 < 256 take some of it.
    const double gain = 1.5 * 0.04 * (keeps_current ? 0.2 * 0.8 : 1);
    double scale = 1 << 23;
    while (std::floor(gain * scale / 64 + 0.5) > 255) scale /= 2;
    std::vector<std::int64_t> w, bias, always;
    for (const double weight : weights) w.push_back(std::llround(std::floor(weight * gain * scale / 64 + 0.5)));
    for (int n = 0; n < 4; ++n) {
      const double drive = lif.bias[static_cast<std::size_t>(n)] * gain;
      bias.push_back(std::llround(std::floor((0.04 * 0.03 + (keeps_current ? 0 : drive)) * scale + 0.5)));
      always.push_back(keeps_current ? std::llround(std::floor(drive * scale / 64 + 0.5)) : 0);
    }
    const std::int64_t threshold = std::llround(0.11 * scale / 64) * 64, dv = 164, du = keeps_current ? 819 : 4096;
    auto decay = [](std::int64_t x, std::int64_t d) { return (x < 0 ? -1 : 1) * ((std::abs(x) * (4096 - d)) >> 12); };
    const SpikeTrain train = random_train(PopulationId(0), 6, steps, random);
    std::vector<std::int64_t> u(4), v(4, std::llround(0.01 * scale));
    std::vector<SpikeAt> wanted;
    for (std::uint32_t t = 0; t < steps; ++t)
      for (std::uint32_t n = 0; n < 4; ++n) {
        std::int64_t sum = always[n];
        for (std::uint32_t i = train.offsets[t]; i < train.offsets[t + 1]; ++i) sum += w[train.neurons[i] * 4 + n];
        u[n] = decay(u[n], du) + 64 * sum;
        v[n] = decay(v[n], dv) + u[n] + bias[n];
        if (v[n] > threshold) wanted.push_back({t, n}), v[n] = 0;
      }
    CHECK(wanted.size() > 20);

    SpikeStimulus stimulus{{train}, {}};
    if (keeps_current) {
      REQUIRE(made.net.populations.size() == 3);
      SpikeTrain each{PopulationId(2), {0}, {}};
      for (std::uint32_t t = 0; t < steps; ++t) each.neurons.push_back(0), each.offsets.push_back(t + 1);
      stimulus.trains.push_back(each);
    }
    SpikeMachine machine =
        SpikeMachine::load(std::make_shared<const SpikingNet>(made.net), on_one_core(made.net), {}).value_or_throw();
    CHECK(machine.run(steps, stimulus).value_or_throw().recorded[1] == wanted);
    const std::vector<std::int32_t> potentials = machine.potentials(PopulationId(1));
    for (std::size_t n = 0; n < 4; ++n) {
      CHECK(potentials[n] == v[n]);
      CHECK(made.potentials[1].number(potentials[n], n) == doctest::Approx(static_cast<double>(v[n]) / scale - 0.01));
    }
  }
}

TEST_CASE("real neurons that a chip cannot be are refused by node, all at once [snn][chip-refuse]") {
  auto neurons = [](const char* name, RealNeurons::Kind kind) {
    RealNeurons made{.name = name, .shape = {.f = 2}, .kind = kind};
    made.r = {1, 1}, made.threshold = {1, 1};
    if (kind != RealNeurons::Kind::integrate) made.k_mem = {0.1, 0.1};
    if (kind == RealNeurons::Kind::current) made.k_syn = {0.1, 0.1};
    return made;
  };
  RealNet net;
  net.name = "net";
  net.populations = {neurons("if", RealNeurons::Kind::integrate), neurons("lif", RealNeurons::Kind::leaky),
                     neurons("cuba", RealNeurons::Kind::current), neurons("uneven", RealNeurons::Kind::leaky)};
  net.populations[0].subtracts = true;
  net.populations[3].k_mem = {0.1, 0.2};
  auto text_of = [&](const char* chip) {
    const Result<ChipNeurons> made = in_integers(net, load_chip(chip).value_or_throw(), standard_blocks().find("CLIF"));
    REQUIRE(!made);
    return refusal_of(made.diags());
  };
  const std::string loihi = text_of("loihi"), north = text_of("truenorth"), tianjic = text_of("tianjic");
  CHECK(loihi.starts_with("E4052 2 populations"));
  CHECK(loihi.find("'if': a spike takes the threshold off") != std::string::npos);
  CHECK(loihi.find("'uneven': its tau differs from neuron to neuron") != std::string::npos);
  CHECK(north.starts_with("E4052 3 populations"));
  CHECK(north.find("'lif': its potential leaks by a share") != std::string::npos);
  CHECK(north.find("'cuba': its synapses keep a current") != std::string::npos);
  CHECK(tianjic.starts_with("E4052 1 population"));
  CHECK(tianjic.find("'uneven': its tau differs from neuron to neuron") != std::string::npos);
}

TEST_CASE("the picture of spiking populations is the sum of what happened [snn][chip-snn]") {
  const std::int64_t steps = 20;
  for (const std::uint64_t seed : random_seeds(6, 100)) {
    CAPTURE(seed);
    const bool is_crossbar = seed % 2 == 0;  // tiles, but no times of events
    std::mt19937_64 random(seed);
    auto net = std::make_shared<SpikingNet>();
    const PopulationId in = net->add({.name = "in", .shape = {.f = 500}});
    PopulationId last = in;
    for (const std::int32_t size : {700, 300, 40}) {
      const PopulationId next = net->add(
          {.name = "n", .shape = {.f = size}, .model = LoihiNeurons{.dv = 512, .threshold = 30}, .recorded = true});
      net->connect({.name = "w",
                    .from = last,
                    .to = next,
                    .synapses = DenseSynapses{
                        random_weights(random, static_cast<std::size_t>((*net)[last].neurons() * size), -9, 12)}});
      last = next;
    }
    auto chip = std::make_shared<const Chip>(load_chip(is_crossbar ? "tianjic" : "loihi").value_or_throw());
    SpikeOptions options = next_tick(true);
    options.keeps_times = true;
    options.grid = spike_grid(*chip, {1, 1});
    options.costs = spike_costs(*chip);
    SpikeLimits limits = spike_limits(*chip, {1, 1});
    limits.neurons = std::min<std::int64_t>(limits.neurons, 100);
    SpikeMachine machine =
        SpikeMachine::load(net, place_spikes(*net, limits).value_or_throw(), options).value_or_throw();
    const SpikeReport report = machine.run(steps, {.trains = {random_train(in, 500, steps, random)}}).value_or_throw();
    std::vector<std::vector<std::int64_t>> fired;
    for (std::size_t p = 0; p < net->populations.size(); ++p) {
      fired.emplace_back(static_cast<std::size_t>(net->populations[p].neurons()));
      for (const SpikeAt& spike : report.recorded[p]) ++fired.back()[spike.neuron];
    }
    const ChipPicture picture = spike_picture({chip, {1, 1}, *net, machine, report.slices, fired},
                                              {.steps = steps, .cycles = report.time, .interval = report.time / steps});
    const ChipAccount& account = picture.account;
    const SpikeCounts all = report.total();
    std::uint64_t on_links = 0, of_layers = 0, of_cores = 0;
    for (const LinkRow& link : account.links) on_links += static_cast<std::uint64_t>(link.packets);
    for (const LayerRow& layer : account.layers) of_layers += static_cast<std::uint64_t>(layer.packets);
    for (const CoreRow& core : account.cores) of_cores += static_cast<std::uint64_t>(core.packets);
    CHECK(all.hop_x > 0);
    CHECK(on_links == all.hop_x + all.hop_y);
    CHECK(of_layers == all.messages_out);
    CHECK(of_cores == all.messages_out);
    CHECK(account.steps == steps);
    CHECK(static_cast<std::uint64_t>(picture.counts()[EnergyEvent::syn_dense]) == all.synapses[0]);
    CHECK(account.layers.size() == 3);
    CHECK(account.cores.size() == static_cast<std::size_t>(machine.placement().cores()));
    // Cores are busy for as long as their stages last, and no stage lasts longer than its tick.
    std::vector<std::int64_t> busy(account.cores.size());
    std::vector<StageTime> stages;
    std::int64_t begin = 0;
    for (std::int64_t tick = 0; tick < steps; begin += report.ticks[static_cast<std::size_t>(tick++)]) {
      std::vector<SpikeCoreTime> cores;
      for (const SpikeCoreTime& core : report.cores)
        if (core.tick == tick) cores.push_back(core);
      stages.clear();
      add_stages(cores, tick, begin, report.ticks[static_cast<std::size_t>(tick)], stages);
      for (const StageTime& stage : stages) {
        CHECK(stage.begin >= begin);
        CHECK(stage.end <= begin + report.ticks[static_cast<std::size_t>(tick)]);
        if (stage.stage == StageTime::Stage::soma || stage.stage == StageTime::Stage::axon)
          busy[static_cast<std::size_t>(stage.core)] += stage.end - stage.begin;
      }
    }
    for (std::size_t c = 0; c < busy.size(); ++c) CHECK(busy[c] <= account.cores[c].busy);  // later ticks are open
    CHECK((is_crossbar || busy[0] > 0));
  }
}

}  // namespace taskspec::spikes_chip_test
