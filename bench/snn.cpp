#include "bench/snn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "bench/snn_brian.hpp"
#include "bench/snn_nets.hpp"
#include "hwsim/spikes/machine.hpp"
#include "hwsim/spikes/of_chip.hpp"
#include "ir/base/instruction_sets.hpp"

namespace taskspec::bench {

namespace {

constexpr std::int64_t random_steps = 200, filtered_steps = 10'000;
constexpr double filtered_updates = 4000.0 * filtered_steps;

// The network takes two of them.
constexpr ChipExtent chips{2, 1};

const Chip& synaptic_chip() {
  static const Chip chip = load_chip("loihi").value_or_throw();
  return chip;
}

SpikeOptions accounted() {
  SpikeOptions options;
  options.accounted = true;
  options.delivery.next_tick = true;
  options.costs = spike_costs(synaptic_chip());
  options.grid = spike_grid(synaptic_chip(), chips);
  return options;
}

__attribute__((optimize("O3"))) TASKSPEC_CLONES void plain_update(std::int32_t threshold, std::size_t n,
                                                                  std::int32_t* __restrict v,
                                                                  std::int32_t* __restrict sums,
                                                                  const std::int32_t* __restrict bias,
                                                                  std::int32_t* __restrict fires) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t x = v[i] * 7;
    const std::int32_t charge = ((x + ((x >> 31) & 7)) >> 3) + bias[i] + sums[i];
    fires[i] = charge > threshold ? 1 : 0;
    v[i] = charge > threshold ? 0 : charge;
    sums[i] = 0;
  }
}

// The same network as one would write it down: charges in one loop, events in another, nothing kept that it can do
// without.
class PlainLoop {
 public:
  PlainLoop(const SpikingNet& net, int threshold) : rows_(std::get<SparseSynapses>(net.connections[0].synapses)) {
    for (const std::int32_t bias : net.populations[0].bias) bias_.push_back(bias);
    threshold_ = threshold << 6;
  }
  void run() {
    const std::size_t n = bias_.size();
    std::vector<std::int32_t> v(n), sums(n), fires(n);
    spikes = events = 0;
    for (std::int64_t t = 0; t < random_steps; ++t) {
      plain_update(threshold_, n, v.data(), sums.data(), bias_.data(), fires.data());
      for (std::size_t i = 0; i < n; ++i) {
        if (fires[i] == 0) continue;
        ++spikes;
        const std::int32_t weight = rows_.weights[rows_.offsets[i]] * 64;  // all synapses of a source weigh the same
        for (std::uint32_t s = rows_.offsets[i]; s < rows_.offsets[i + 1]; ++s) sums[rows_.targets[s]] += weight;
        events += rows_.offsets[i + 1] - rows_.offsets[i];
      }
    }
  }
  std::uint64_t spikes = 0, events = 0;

 private:
  const SparseSynapses& rows_;
  std::vector<std::int32_t> bias_;
  std::int32_t threshold_ = 0;
};

struct SpikeSubject {
  std::string name;
  std::function<void()> run;
  double work = 0;
  Repeats times;
};

SpikeMachine machine_of(const std::shared_ptr<const SpikingNet>& net, const SpikePlacement& placement,
                        const SpikeOptions& options) {
  return SpikeMachine::load(net, placement, options).value_or_throw();
}

// A run from the beginning, with the counts that it must give.
struct OurSpikes {
  SpikeMachine machine;
  std::int64_t steps;
  SpikeReport report = {};
  void run() {
    machine.reset();
    report = machine.run(steps, {}).value_or_throw();
  }
  bool is_right() const { return report.spikes == known_spikes && report.events == known_events; }
};

// One in `every` neurons of the first population spikes in each step.
SpikeTrain spikes_from_outside(std::uint32_t every) {
  SpikeTrain train{PopulationId(0), {0}, {}};
  for (std::uint32_t t = 0; t < random_steps; ++t) {
    for (std::uint32_t n = 0; n < 10'000; ++n)
      if (splitmix(t, n) % every == 0) train.neurons.push_back(n);
    train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
  }
  return train;
}

std::vector<std::string> row(const SpikeSubject& subject, double peer, const std::string& bar) {
  const double by_cpu = subject.work / subject.times.min_cpu(), by_wall = subject.work / subject.times.min_wall();
  return {subject.name,
          fmt::format("{:.3f}", subject.times.min_wall() * 1e3),
          fmt::format("{:.3f}", subject.times.median_wall() * 1e3),
          fmt::format("{:.3f}", subject.times.min_cpu() * 1e3),
          fmt::format("{:.0f}", by_wall / 1e6),
          fmt::format("{:.0f}", by_cpu / 1e6),
          fmt::format("{:.2f}", by_cpu / peer),
          bar};
}

std::string verdict(const SpikeSubject& subject, double least, const std::string& bar) {
  return bar + (subject.work / subject.times.min_cpu() >= least ? ": held" : ": MISSED");
}

void print_brian(Brian& brian, const std::string& name, const Repeats& theirs, const BrianRun& last, double work,
                 double ours, const std::string& unit) {
  fmt::print(
      "Brian2 {}, C++ standalone, {}: {} spikes, {:.3f} ms at least, {:.3f} in the middle, {:.0f} M {}/s by wall "
      "time; ours is {:.1f} times as fast\n",
      brian.version(), name, last.spikes, theirs.min_wall() * 1e3, theirs.median_wall() * 1e3,
      work / theirs.min_wall() / 1e6, unit, theirs.min_wall() / ours);
}

}  // namespace

int snn(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 20;
  const auto net = random_spiking_net(10'000, 100);
  const auto filtered = filtered_spiking_net();
  const SpikePlacement cores = place_spikes(*net, spike_limits(synaptic_chip(), chips)).value_or_throw();

  PlainLoop plain(*net, 64);
  OurSpikes values{machine_of(net, on_one_core(*net), {}), random_steps};
  OurSpikes costs{machine_of(net, cores, accounted()), random_steps};
  OurSpikes updates{machine_of(filtered, on_one_core(*filtered), {}), filtered_steps};
  std::vector<OurSpikes> threaded;
  std::vector<SpikeSubject> subjects{{"plain loop, its own network", [&] { plain.run(); }, double{known_events}, {}},
                                     {"values, 10,000 x 100", [&] { values.run(); }, double{known_events}, {}},
                                     {"with all costs, 197 cores", [&] { costs.run(); }, double{known_events}, {}},
                                     {"updates, 4000 x 80", [&] { updates.run(); }, filtered_updates, {}}};
  subjects.push_back({"loading 10^6, values", [&] { machine_of(net, on_one_core(*net), {}); }, 1e6, {}});
  subjects.push_back(
      {"loading 10^6, cut and with costs",
       [&] { machine_of(net, place_spikes(*net, spike_limits(synaptic_chip(), chips)).value_or_throw(), accounted()); },
       1e6,
       {}});
  SpikeMachine listening = machine_of(listening_net(), on_one_core(*listening_net()), {});
  for (const std::uint32_t every : {25U, 50U}) {
    const SpikeStimulus stimulus{.trains = {spikes_from_outside(every)}};
    const double events = 100.0 * static_cast<double>(stimulus.trains[0].neurons.size());
    subjects.push_back({fmt::format("one in {} spikes", every),
                        [&listening, stimulus] { listening.run(random_steps, stimulus).value_or_throw(); },
                        events,
                        {}});
  }
  threaded.reserve(settings.threads.size());
  for (const int threads : settings.threads) {
    if (threads == 1) continue;
    SpikeOptions options;
    options.threads = threads;
    threaded.push_back({machine_of(net, on_one_core(*net), options), random_steps});
    subjects.push_back({fmt::format("values, {} threads", threads),
                        [&ours = threaded.back()] { ours.run(); },
                        double{known_events},
                        {}});
  }

  Brian brian("random"), cuba("cuba");
  Repeats brian_times, cuba_times;
  BrianRun brian_run, cuba_run;
  for (SpikeSubject& subject : subjects) subject.run();
  for (int i = 0; i < repeats; ++i) {
    for (SpikeSubject& subject : subjects) subject.times.add(measure(subject.run));
    if (i >= 10) continue;
    if (brian.there()) brian_run = brian.run(), brian_times.add({brian_run.wall, brian_run.cpu});
    if (cuba.there()) cuba_run = cuba.run(), cuba_times.add({cuba_run.wall, cuba_run.cpu});
  }

  bool right = plain.spikes == known_spikes && plain.events == known_events && values.is_right() && costs.is_right();
  for (const OurSpikes& ours : threaded) right = right && ours.is_right() && ours.report.hash == values.report.hash;
  if (!right) {
    fmt::print(
        "FAILED: the network of 10,000 x 100 makes {} spikes and {} events; counted {} and {} (plain loop), {} and "
        "{} (values), {} and {} (with costs)\n",
        known_spikes, known_events, plain.spikes, plain.events, values.report.spikes, values.report.events,
        costs.report.spikes, costs.report.events);
    return 1;
  }
  const SpikeCounts total = costs.report.total();
  fmt::print(
      "spiking networks, minimum of {} turns; {} spikes, {} events in {} steps, each of them; {:.2f} B a synapse\n",
      repeats, known_spikes, known_events, random_steps,
      static_cast<double>(values.machine.bytes()) / static_cast<double>(values.machine.synapses()));
  fmt::print("with costs: {} cores, {} ticks of the chip, {} messages, {} hops, {} updates\n", cores.cores(),
             costs.report.time, total.messages_out, total.hop_x + total.hop_y, total.updates);
  const double peer = known_events / subjects[0].times.min_cpu();
  Table table({"what", "min ms", "median ms", "cpu ms", "M/s wall", "M/s cpu", "ratio", "to what, and the bar"});
  table.add(row(subjects[0], 1.5e9, "1.5 G events/s, limit of a core"));
  table.add(row(subjects[1], 1.5e9, "1.5 G events/s, limit of a core"));
  table.add(row(subjects[1], peer, "plain loop"));
  table.add(row(subjects[1], 500e6, verdict(subjects[1], 500e6, "500 M events/s; bar 1")));
  table.add(row(subjects[2], 50e6, verdict(subjects[2], 50e6, "50 M events/s; bar 1")));
  // Measured once, with its own network of that size; it is no package.
  table.add(row(subjects[2], 0.60e6, "0.60 M events/s of SANA-FE, simple, quoted"));
  table.add(row(subjects[2], 0.18e6, "0.18 M events/s of SANA-FE, detailed, quoted"));
  table.add(row(subjects[3], 1e9, verdict(subjects[3], 1e9, "1 G updates/s; bar 1")));
  table.add(row(subjects[4], 1e7, verdict(subjects[4], 1e7, "10 M synapses/s (0.1 s); bar 1")));
  table.add(row(subjects[5], 1e7, verdict(subjects[5], 1e7, "10 M synapses/s (0.1 s); bar 1")));
  for (const std::size_t i : {6U, 7U}) table.add(row(subjects[i], 500e6, "500 M events/s"));
  for (std::size_t i = 8; i < subjects.size(); ++i)
    table.add(row(subjects[i], known_events / subjects[1].times.min_cpu(), "one thread, by CPU time"));
  fmt::print("{}half the spikes take {:.2f} of the time\n", table.text(),
             subjects[7].times.min_cpu() / subjects[6].times.min_cpu());
  if (!brian.there() || !cuba.there()) {
    fmt::print("Brian2 is not measured: it takes the package python3-brian, and a compiler\n");
    return 0;
  }
  if (brian_run.spikes != known_spikes) {
    fmt::print("FAILED: Brian2 counts {} spikes, not {}\n", brian_run.spikes, known_spikes);
    return 1;
  }
  print_brian(brian, "10,000 x 100", brian_times, brian_run, double{known_events}, subjects[1].times.min_wall(),
              "events");
  print_brian(cuba, "CUBA of 4000 x 80 (other equations)", cuba_times, cuba_run, filtered_updates,
              subjects[3].times.min_wall(), "updates");
  fmt::print("spikes per step: {:.2f} theirs, {:.2f} ours\n", static_cast<double>(cuba_run.spikes) / filtered_steps,
             static_cast<double>(updates.report.spikes) / filtered_steps);
  return 0;
}

}  // namespace taskspec::bench
