// Spiking networks: values against plain loops, counts against those of a published network, threads, delays.
#include <doctest/doctest.h>

#include <algorithm>

#include "bench/snn_nets.hpp"
#include "tests/hwsim/spikes_nets.hpp"
#include "tests/hwsim/spikes_oracle.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::spikes_test {

namespace {

SpikeReport run(SpikeMachine& machine, std::int64_t steps, const SpikeStimulus& stimulus = {}) {
  return machine.run(steps, stimulus).value_or_throw();
}

SpikeMachine load(const std::shared_ptr<const SpikingNet>& net, const SpikeOptions& options = {}) {
  return SpikeMachine::load(net, on_one_core(*net), options).value_or_throw();
}

void check_equal(const SpikingNet& net, const SpikeMachine& machine, const SpikeReport& report,
                 const oracle::Truth& truth) {
  CHECK(report.events == truth.events);
  for (std::size_t p = 0; p < net.populations.size(); ++p) {
    if (net.populations[p].is_outside()) continue;
    CAPTURE(p);
    CHECK(report.recorded[p] == oracle::listed(truth.spikes[p]));
    CHECK(machine.potentials(PopulationId(p)) == truth.potentials[p]);
  }
}

// The part of a stimulus from one step to another.
SpikeStimulus between_steps(const SpikingNet& net, const SpikeStimulus& all, std::int64_t begin, std::int64_t end) {
  SpikeStimulus some;
  for (const SpikeTrain& train : all.trains) {
    SpikeTrain piece{train.population, {}, {}};
    const std::uint32_t first = train.offsets[static_cast<std::size_t>(begin)];
    for (std::int64_t t = begin; t <= end; ++t)
      piece.offsets.push_back(train.offsets[static_cast<std::size_t>(t)] - first);
    piece.neurons.assign(train.neurons.begin() + first, train.neurons.begin() + first + piece.offsets.back());
    some.trains.push_back(std::move(piece));
  }
  for (const SpikeCurrent& current : all.currents) {
    const std::int64_t n = net[current.population].neurons();
    const bool same = static_cast<std::int64_t>(current.values.size()) == n;
    some.currents.push_back(
        same
            ? current
            : SpikeCurrent{current.population, {current.values.begin() + begin * n, current.values.begin() + end * n}});
  }
  return some;
}

std::vector<std::int32_t> delays_of(const SpikingNet& net) {
  std::vector<std::int32_t> delays;
  for (const SpikeConnection& connection : net.connections) delays.push_back(connection.delay);
  return delays;
}

}  // namespace

TEST_CASE("random networks are equal to plain loops, for any number of threads [snn]") {
  std::size_t lively = 0, cases = 0;  // populations that spike, and not always
  for (const std::uint64_t seed : random_seeds(150, 5'000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed, seed % 10 == 0);
    const oracle::Truth truth = oracle::run(*made.net, delays_of(*made.net), made.steps, made.stimulus);
    for (const int threads : {1, 2, 4}) {
      CAPTURE(threads);
      SpikeMachine machine = load(made.net, {.threads = threads});
      check_equal(*made.net, machine, run(machine, made.steps, made.stimulus), truth);
    }
    for (std::size_t p = 1; p < made.net->populations.size(); ++p, ++cases) {
      const std::size_t spikes = oracle::listed(truth.spikes[p]).size();
      const auto most = static_cast<std::size_t>(made.net->populations[p].neurons() * made.steps);
      lively += spikes > 0 && spikes < most ? 1 : 0;
    }
  }
  CHECK(lively * 2 > cases);
}

TEST_CASE("a run goes on where the one before ended, and a reset begins again [snn]") {
  for (const std::uint64_t seed : random_seeds(40, 1'000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed);
    const oracle::Truth truth = oracle::run(*made.net, delays_of(*made.net), made.steps, made.stimulus);
    const SpikeDelivery later{.next_tick = true, .allow_delay = false};
    const bool can_shift = static_cast<bool>(schedule_spikes(*made.net, later));
    SpikeMachine machine = load(made.net, {.delivery = can_shift ? later : SpikeDelivery{}});
    for (int time = 0; time < 2; ++time, machine.reset()) {
      const std::int64_t half = made.steps / 2;
      SpikeReport first = run(machine, half, between_steps(*made.net, made.stimulus, 0, half));
      const SpikeReport rest =
          run(machine, made.steps - half, between_steps(*made.net, made.stimulus, half, made.steps));
      for (std::size_t p = 0; p < first.recorded.size(); ++p)
        first.recorded[p].insert(first.recorded[p].end(), rest.recorded[p].begin(), rest.recorded[p].end());
      first.events += rest.events;
      check_equal(*made.net, machine, first, truth);
    }
  }
}

TEST_CASE("delivery in the next tick changes no value, and results come later [snn]") {
  int shifted = 0;
  for (const std::uint64_t seed : random_seeds(80, 2'000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed);
    SpikeOptions options{.threads = 2};
    options.delivery.next_tick = true;
    Result<SpikeMachine> tried = SpikeMachine::load(made.net, on_one_core(*made.net), options);
    options.delivery.allow_delay = !tried;
    SpikeMachine machine = tried ? *std::move(tried) : load(made.net, options);
    const SpikeSchedule& schedule = machine.schedule();
    CHECK(schedule.notes.empty() != options.delivery.allow_delay);
    for (std::size_t c = 0; c < made.net->connections.size(); ++c) {
      const SpikeConnection& connection = made.net->connections[c];
      const auto* rows = std::get_if<SparseSynapses>(&connection.synapses);
      const int extra = rows && !rows->delays.empty() ? *std::min_element(rows->delays.begin(), rows->delays.end()) : 0;
      CHECK(schedule.delay[c] + extra + schedule.depth[connection.to.index()] -
                schedule.depth[connection.from.index()] >=
            1);
    }
    shifted += schedule.deepest() > 0 ? 1 : 0;
    const oracle::Truth truth = oracle::run(*made.net, schedule.delay, made.steps, made.stimulus);
    check_equal(*made.net, machine, run(machine, made.steps, made.stimulus), truth);
  }
  CHECK(shifted > 10);
}

TEST_CASE("sums that may overflow are cut after each addition, in order [snn]") {
  int cut = 0;
  for (const std::uint64_t seed : random_seeds(40, 1'000)) {
    CAPTURE(seed);
    const RandomSpikes made = random_spikes(seed, true);
    SpikeMachine machine = load(made.net, {.threads = 2});
    cut += machine.is_proven() ? 0 : 1;
    check_equal(*made.net, machine, run(machine, made.steps, made.stimulus),
                oracle::run(*made.net, delays_of(*made.net), made.steps, made.stimulus));
  }
  CHECK(cut > 20);
}

TEST_CASE("10,000 neurons with a million synapses: 51,754 spikes in 200 steps, one hash for all threads [snn]") {
  const auto net = bench::random_spiking_net(10'000, 100);
  std::uint64_t hash = 0;
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    SpikeMachine machine = load(net, {.threads = threads});
    const SpikeReport report = run(machine, 200);
    CHECK(report.spikes == bench::known_spikes);
    CHECK(report.events == bench::known_events);
    if (threads == 1) hash = report.hash;
    CHECK(report.hash == hash);
    CHECK(machine.synapses() == 1'000'000);
    CHECK(static_cast<double>(machine.bytes()) / 1e6 <= 8.0);
    CHECK(machine.is_proven());
  }
}

TEST_CASE("a convolution is its synapses written out, and holds no more than its kernel [snn]") {
  auto net = std::make_shared<SpikingNet>();
  const PopulationId in = net->add({.name = "in", .shape = {12, 11, 3}});
  SpikePopulation out{.name = "out",
                      .shape = {6, 6, 8},
                      .model = LoihiNeurons{.du = 4096, .dv = 300, .threshold = 40},
                      .recorded = true};
  const PopulationId first = net->add(out), second = net->add(out);
  ConvolutionSynapses conv{.ky = 3, .kx = 3, .stride_y = 2, .stride_x = 2, .pad_y = 1, .pad_x = 1, .weights = {}};
  for (std::uint64_t i = 0; i < 3 * 3 * 3 * 8; ++i)
    conv.weights.push_back(static_cast<std::int32_t>(bench::splitmix(9, i) % 31) - 12);
  net->connect({.name = "implicit", .from = in, .to = first, .synapses = conv});
  net->connect({.name = "written out", .from = in, .to = second, .synapses = expanded(*net, net->connections[0])});
  SpikeTrain train{in, {0}, {}};
  for (std::uint32_t t = 0; t < 50; ++t) {
    for (std::uint32_t n = 0; n < 12 * 11 * 3; ++n)
      if (bench::splitmix(t + 100, n) % 4 == 0) train.neurons.push_back(n);
    train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
  }
  SpikeMachine machine = load(net);
  const SpikeReport report = run(machine, 50, {.trains = {train}});
  CHECK(report.spikes_of[first.index()] > 1000);
  CHECK(report.recorded[first.index()] == report.recorded[second.index()]);
  CHECK(machine.potentials(first) == machine.potentials(second));
  const auto synapses =
      static_cast<std::int64_t>(std::get<SparseSynapses>(net->connections[1].synapses).targets.size());
  CHECK(machine.synapses() == synapses);  // those of the implicit one are not stored
  CHECK(machine.bytes() < 3 * synapses + 4 * (12 * 11 * 3 + 1) + 3 * 3 * 3 * 8 + 1);
}

TEST_CASE("half the spikes are half the events [snn]") {
  auto net = std::make_shared<SpikingNet>();
  const PopulationId in = net->add({.name = "in", .shape = {.f = 1000}});
  const PopulationId out = net->add({.name = "out", .shape = {.f = 1000}, .model = LoihiNeurons{}});
  net->connect({.name = "s", .from = in, .to = out, .synapses = bench::random_rows(1000, 50, 7, 2, -10)});
  std::uint64_t events[2];
  for (std::uint32_t every : {1U, 2U}) {
    SpikeTrain train{in, {0}, {}};
    for (std::uint32_t t = 0; t < 20; ++t) {
      for (std::uint32_t n = 0; n < 1000; n += 10 * every) train.neurons.push_back(n);
      train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
    }
    SpikeMachine machine = load(net);
    events[every - 1] = run(machine, 20, {.trains = {train}}).events;
  }
  CHECK(events[0] == 20 * 100 * 50);
  CHECK(events[1] * 2 == events[0]);
}

TEST_CASE("the loihi neuron by hand [snn]") {
  auto net = std::make_shared<SpikingNet>();
  const PopulationId in = net->add({.name = "in"});
  const PopulationId n = net->add(
      {.name = "n", .model = LoihiNeurons{.du = 2048, .dv = 1024, .threshold = 10}, .bias = {-3}, .recorded = true});
  net->connect({.name = "w", .from = in, .to = n, .synapses = DenseSynapses{{5}}, .delay = 1});
  SpikeMachine machine = load(net);
  // u: 320 160 80 ...; v: -3, then -3 * 3 / 4 = -2.25, cut towards zero.
  const std::int32_t v[] = {-3, -2 + 320 - 3, 236 + 160 - 3, 294 + 80 - 3, 278 + 40 - 3};
  for (int t = 0; t < 5; ++t) {
    run(machine, 1,
        {.trains = {
             {in, {0, t == 0 ? 1U : 0U}, t == 0 ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{}}}});
    CHECK(machine.potentials(n) == std::vector<std::int32_t>{v[t]});
  }
}

}  // namespace taskspec::spikes_test
