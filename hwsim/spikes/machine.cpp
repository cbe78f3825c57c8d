#include "hwsim/spikes/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "hwsim/spikes/part.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {

namespace {

// Of values alone cores do not matter: slices small enough to be dealt evenly.
std::vector<SpikeSlice> small_units(const SpikingNet& net, const SpikePlacement& placement, int threads) {
  std::int64_t neurons = 0;
  for (const SpikeSlice& slice : placement.slices) neurons += slice.neurons();
  const std::int64_t size = std::clamp<std::int64_t>(neurons / (8 * threads) / 64 * 64, 64, 4096);
  std::vector<SpikeSlice> units;
  for (const SpikeSlice& slice : placement.slices) {
    const std::int64_t step = threads == 1 && slice.neurons() <= most_part_neurons ? slice.neurons() : size;
    if (draws_random(net[slice.population]))
      units.push_back(slice);
    else
      for (std::int64_t at = slice.begin; at < slice.end; at += step)
        units.push_back({slice.population, at, std::min(at + step, slice.end), slice.core});
  }
  return units;
}

// Where a part may end: behind the last unit of each core that has begun.
std::vector<std::uint8_t> possible_ends(const std::vector<SpikeSlice>& units, bool whole_cores) {
  std::vector<std::uint8_t> ends(units.size(), 1);
  if (!whole_cores) return ends;
  std::vector<std::size_t> last;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto core = static_cast<std::size_t>(units[i].core);
    if (last.size() <= core) last.resize(core + 1);
    last[core] = i;
  }
  std::size_t open = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    open = std::max(open, last[static_cast<std::size_t>(units[i].core)]);
    ends[i] = open <= i;
  }
  return ends;
}

std::vector<double> work_of(const SpikingNet& net, const std::vector<SpikeSlice>& units) {
  std::vector<double> per_neuron(net.populations.size(), 8);
  for (const SpikeConnection& c : net.connections) {
    double synapses = static_cast<double>(net[c.from].neurons());
    if (const auto* rows = std::get_if<SparseSynapses>(&c.synapses))
      synapses = static_cast<double>(rows->targets.size()) / static_cast<double>(net[c.to].neurons());
    else if (const auto* conv = std::get_if<ConvolutionSynapses>(&c.synapses))
      synapses = static_cast<double>(conv->weights.size()) / net[c.to].shape.f;
    per_neuron[c.to.index()] += synapses;
  }
  std::vector<double> work;
  for (const SpikeSlice& unit : units)
    work.push_back(per_neuron[unit.population.index()] * static_cast<double>(unit.neurons()));
  return work;
}

// A part is full where another unit would not be numbered in 16 bits.
Result<std::vector<std::size_t>> part_ends(const SpikeWorld& world) {
  const std::vector<SpikeSlice>& units = world.units;
  const std::vector<std::uint8_t> may_end = possible_ends(units, world.options.accounted);
  const std::vector<double> work = work_of(*world.net, units);
  double all = 0, done = 0;
  for (const double w : work) all += w;
  std::vector<std::size_t> ends;
  std::size_t begin = 0, candidate = 0;
  std::int64_t neurons = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    neurons += units[i].neurons();
    if (neurons > most_part_neurons) {
      if (candidate == begin) {
        Diags diags;
        diags.error("E4043", Span{},
                    fmt::format("population '{}': {} neurons have to be simulated together, and at most {} are",
                                (*world.net)[units[i].population].name, neurons, most_part_neurons));
        return diags;
      }
      ends.push_back(candidate);
      neurons = 0;
      for (std::size_t k = candidate; k <= i; ++k) neurons += units[k].neurons();
      begin = candidate;
    }
    done += work[i];
    if (!may_end[i]) continue;
    candidate = i + 1;
    const double share = all * static_cast<double>(ends.size() + 1) / world.options.threads;
    if (done + 1e-9 * all < share || i + 1 == units.size()) continue;
    ends.push_back(candidate);
    begin = candidate;
    neurons = 0;
  }
  if (ends.empty() || ends.back() != units.size()) ends.push_back(units.size());
  return ends;
}

void check_stimulus(const SpikingNet& net, std::int64_t steps, const SpikeStimulus& stimulus, Diags& diags) {
  for (const SpikeTrain& train : stimulus.trains) {
    if (train.population.index() >= net.populations.size() || !net[train.population].is_outside()) {
      diags.error("E4006", Span{}, "spikes for a population that does not get them from outside");
      continue;
    }
    const SpikePopulation& population = net[train.population];
    const bool fits = train.offsets.size() == static_cast<std::size_t>(steps) + 1 && train.offsets.front() == 0 &&
                      train.offsets.back() == train.neurons.size() &&
                      (train.values.empty() || (population.graded && train.values.size() == train.neurons.size())) &&
                      std::is_sorted(train.offsets.begin(), train.offsets.end());
    if (!fits)
      diags.error("E4006", Span{}, fmt::format("spikes of '{}' are not those of {} steps", population.name, steps));
    else
      for (std::size_t t = 0; t + 1 < train.offsets.size(); ++t)
        for (std::uint32_t i = train.offsets[t]; i < train.offsets[t + 1]; ++i)
          if (train.neurons[i] >= population.neurons() ||
              (i > train.offsets[t] && train.neurons[i] <= train.neurons[i - 1])) {
            diags.error("E4006", Span{},
                        fmt::format("spikes of '{}' in step {} do not ascend within 0..{}", population.name, t,
                                    population.neurons()));
            return;
          }
  }
  for (const SpikeCurrent& current : stimulus.currents) {
    const bool is_there = current.population.index() < net.populations.size();
    const std::int64_t neurons = is_there ? net[current.population].neurons() : 0;
    const auto count = static_cast<std::int64_t>(current.values.size());
    if (!is_there || net[current.population].is_outside() || (count != neurons && count != steps * neurons))
      diags.error("E4006", Span{}, "currents that do not fit their population");
  }
}

}  // namespace

struct SpikeMachine::State {
  SpikeWorld world;
  std::vector<std::unique_ptr<SpikePart>> parts;
  std::vector<std::vector<SpikePacket>> packets;  // by tick, in turn, as the open ticks of parts; with a network
  std::int64_t begun = 0;                         // steps of all runs
};

namespace {

std::int64_t last_packet(const SpikeWorld& world, std::vector<SpikePacket>& packets) {
  std::stable_sort(packets.begin(), packets.end(),
                   [](const SpikePacket& a, const SpikePacket& b) { return a.from < b.from; });
  return packets.empty() ? 0 : world.options.network(packets);
}

// What the threads of a run do; each has every so many-th part.
class SpikeRun {
 public:
  // `packets`: of ticks that are not over, by tick in turn; `begun`: steps of earlier runs.
  SpikeRun(const SpikeWorld& world, std::span<const std::unique_ptr<SpikePart>> parts, std::int64_t steps,
           const SpikeStimulus& stimulus, std::vector<std::vector<SpikePacket>>& packets, std::int64_t begun)
      : world_(world),
        parts_(parts),
        stimulus_(stimulus),
        trains_(world.net->populations.size()),
        ticks_(steps + world.schedule.deepest()),
        steps_(steps),
        packets_(packets),
        begun_(begun) {
    for (const SpikeTrain& train : stimulus.trains) trains_[train.population.index()] = &train;
    if (world.options.network) last_packets_.assign(static_cast<std::size_t>(ticks_), 0);
  }

  std::vector<std::int64_t> run() {
    std::vector<std::thread> threads;
    std::atomic<int> all = 0;
    const int wanted = std::min<int>(world_.options.threads, static_cast<int>(parts_.size()));
    try {
      for (int i = 1; i < wanted; ++i)
        threads.emplace_back([&, i] {
          all.wait(0);
          work(i, all.load());
        });
    } catch (const std::system_error&) {  // those that there are do it
    }
    const int count = static_cast<int>(threads.size()) + 1;
    if (count > 1) barrier_.emplace(count);
    all.store(count);
    all.notify_all();
    work(0, count);
    for (std::thread& thread : threads) thread.join();
    if (fault_) std::rethrow_exception(fault_);
    return std::move(last_packets_);
  }

 private:
  void work(int mine, int all) {
    int turn = 0;  // lists of spikes: those of the level before may still be read
    for (std::int64_t tick = 0; tick < ticks_; ++tick) {
      for (std::size_t level = 0; level < world_.schedule.levels.size(); ++level, turn ^= 1) {
        guarded([&] {
          for_mine(mine, all,
                   [&](SpikePart& part) { part.update(world_.schedule.levels[level], tick, turn, stimulus_); });
        });
        if (barrier_) barrier_->arrive_and_wait();
        guarded([&] {
          if (mine == 0 && world_.options.network) send(tick, turn, level);
          for_mine(mine, all, [&](SpikePart& part) { deliver(part, level, tick, turn); });
        });
      }
      guarded([&] { for_mine(mine, all, [&](SpikePart& part) { part.finish_tick(tick); }); });
    }
  }

  // After a fault the threads still meet one another, and do nothing more.
  template <class F>
  void guarded(F&& f) {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      f();
    } catch (...) {
      if (!failed_.exchange(true)) fault_ = std::current_exception();
    }
  }

  template <class F>
  void for_mine(int mine, int all, F&& f) {
    for (std::size_t i = static_cast<std::size_t>(mine); i < parts_.size(); i += static_cast<std::size_t>(all))
      f(*parts_[i]);
  }

  void deliver(SpikePart& part, std::size_t level, std::int64_t tick, int turn) {
    for (const PopulationId population : world_.schedule.levels[level]) {
      const std::int64_t step = tick - world_.schedule.depth[population.index()];
      if (step < 0 || step >= steps_) continue;
      if (!(*world_.net)[population].is_outside()) {
        for (const auto& source : parts_) part.deliver(population, source->spikes(population, turn), tick);
      } else if (const SpikeTrain* train = trains_[population.index()]) {
        const std::uint32_t at = train->offsets[static_cast<std::size_t>(step)],
                            count = train->offsets[static_cast<std::size_t>(step) + 1] - at;
        SpikesGiven given{std::span(train->neurons).subspan(at, count)};
        if (!train->values.empty()) given.values = std::span(train->values).subspan(at, count);
        part.deliver(population, given, tick);
      }
    }
  }

  void send(std::int64_t tick, int turn, std::size_t level) {
    std::vector<SpikePacket>& packets = packets_[static_cast<std::size_t>(begun_ + tick) % packets_.size()];
    for (const auto& part : parts_)
      packets.insert(packets.end(), part->packets(turn).begin(), part->packets(turn).end());
    if (level + 1 < world_.schedule.levels.size()) return;
    if (world_.options.streamed && tick >= steps_) return;
    last_packets_[static_cast<std::size_t>(tick)] = last_packet(world_, packets);
    packets.clear();
  }

  const SpikeWorld& world_;
  std::span<const std::unique_ptr<SpikePart>> parts_;
  const SpikeStimulus& stimulus_;
  std::vector<const SpikeTrain*> trains_;  // by population
  std::int64_t ticks_, steps_;
  std::optional<std::barrier<>> barrier_;
  std::vector<std::vector<SpikePacket>>& packets_;  // the first thread's
  std::int64_t begun_;
  std::vector<std::int64_t> last_packets_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr fault_;
};

}  // namespace

namespace {

// With its barrier, and at least as long as the chip makes it.
std::int64_t whole_tick(const SpikeWorld& world, std::int64_t time) {
  const SpikeCosts& costs = world.options.costs;
  return std::max(time + barrier_ticks(costs, world.traffic->tiles()), costs.least_tick);
}

}  // namespace

Result<SpikeMachine> SpikeMachine::load(std::shared_ptr<const SpikingNet> net, SpikePlacement placement,
                                        const SpikeOptions& options) {
  if (Diags diags = check_spiking(*net); diags.has_errors()) return diags;
  SpikeDelivery delivery = options.delivery;
  for (const SpikeSlice& slice : placement.slices) {
    if (slice.tiles == 0) continue;  // sums of tiles are added a tick later
    delivery.longer.resize(net->populations.size());
    delivery.longer[slice.population.index()] = 1;
  }
  Result<SpikeSchedule> schedule = schedule_spikes(*net, delivery);
  if (!schedule) return schedule.diags();
  auto state = std::make_unique<State>();
  SpikeWorld& world = state->world;
  world.options = options;
  world.options.threads = std::clamp(options.threads, 1, 1024);
  world.units = options.accounted ? placement.slices : small_units(*net, placement, world.options.threads);
  if (options.accounted) world.traffic.emplace(*net, placement, options.costs, options.grid);
  world.placement = std::move(placement);
  world.schedule = *std::move(schedule);
  world.net = std::move(net);
  world.cuts.assign(world.net->populations.size(), world.net->cut_each_addition ? 1 : 0);
  std::size_t neurons = 0;
  for (const SpikePopulation& population : world.net->populations) {
    world.first.push_back(neurons);
    neurons += static_cast<std::size_t>(population.neurons());
  }
  const Result<std::vector<std::size_t>> ends = part_ends(world);
  if (!ends) return ends.diags();
  std::size_t begin = 0;
  for (const std::size_t end : *ends) {
    if (end > begin) state->parts.push_back(std::make_unique<SpikePart>(world, begin, end));
    begin = end;
  }
  for (const auto& part : state->parts) part->find_bounds(world.cuts);
  state->packets.resize(static_cast<std::size_t>(world.schedule.deepest()) + 1);
  return SpikeMachine(std::move(state));
}

SpikeMachine::SpikeMachine(std::unique_ptr<State> state) : state_(std::move(state)) {}
SpikeMachine::SpikeMachine(SpikeMachine&&) noexcept = default;
SpikeMachine& SpikeMachine::operator=(SpikeMachine&&) noexcept = default;
SpikeMachine::~SpikeMachine() = default;

Result<SpikeReport> SpikeMachine::run(std::int64_t steps, const SpikeStimulus& stimulus) {
  const SpikeWorld& world = state_->world;
  Diags diags;
  check_stimulus(*world.net, steps, stimulus, diags);
  if (diags.has_errors()) return diags;
  for (const auto& part : state_->parts) part->begin_run(steps);
  const std::vector<std::int64_t> last_packets =
      SpikeRun(world, state_->parts, steps, stimulus, state_->packets, state_->begun).run();
  state_->begun += steps;

  SpikeReport report;
  report.steps = steps;
  report.notes = world.schedule.notes;
  report.spikes_of.assign(world.net->populations.size(), 0);
  report.recorded.resize(world.net->populations.size());
  report.slices.resize(world.options.accounted ? world.units.size() : 0);
  for (std::size_t p = 0; p < world.cuts.size(); ++p)
    if (world.cuts[p])
      report.notes.push_back(
          fmt::format("sums of '{}' are cut to 32 bits after each synapse", world.net->populations[p].name));
  for (const SpikeTrain& train : stimulus.trains) report.spikes_of[train.population.index()] += train.neurons.size();
  const std::int64_t ticks = steps + (world.options.streamed ? 0 : world.schedule.deepest());
  if (world.options.accounted) report.ticks.assign(static_cast<std::size_t>(ticks), 0);
  for (const auto& part : state_->parts) part->add_to(report, report.ticks);
  std::ranges::stable_sort(report.cores, {}, [](const SpikeCoreTime& t) { return std::pair(t.tick, t.core); });
  Hasher hasher;
  for (std::size_t i = 0; i < report.ticks.size(); ++i) {
    if (!last_packets.empty()) report.ticks[i] = std::max(report.ticks[i], last_packets[i]);
    report.ticks[i] = whole_tick(world, report.ticks[i]);
    report.time += report.ticks[i];
    hasher.add(static_cast<std::uint64_t>(report.ticks[i]));
  }
  for (const auto& part : state_->parts) part->add_potentials_to(report.hash);
  hasher.add(report.hash).add(report.spikes);
  for (const SpikeCounts& c : report.slices) {
    for (const std::uint64_t n : {c.messages_in, c.access, c.updates, c.spikes, c.messages_out, c.hop_x, c.hop_y,
                                  c.borders, c.synapses[0], c.synapses[1], c.synapses[2]})
      hasher.add(n);
  }
  report.hash = hasher.digest().low;
  return report;
}

void SpikeMachine::reset() {
  for (const auto& part : state_->parts) part->reset();
  for (auto& packets : state_->packets) packets.clear();
  state_->begun = 0;
}

std::vector<std::int64_t> SpikeMachine::open_ticks() const {
  const SpikeWorld& world = state_->world;
  if (!world.options.accounted || !world.options.streamed || state_->begun == 0) return {};
  std::vector<std::int64_t> times(static_cast<std::size_t>(world.schedule.deepest()));
  for (const auto& part : state_->parts) {
    const std::vector<std::int64_t> of_part = part->open_ticks();
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], of_part[i]);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::vector<SpikePacket> packets =
        state_->packets[(static_cast<std::size_t>(state_->begun) + i) % state_->packets.size()];
    times[i] = whole_tick(world, std::max(times[i], last_packet(world, packets)));
  }
  return times;
}

std::vector<SpikeCoreTime> SpikeMachine::open_cores(std::size_t open_tick) const {
  std::vector<SpikeCoreTime> cores;
  for (const auto& part : state_->parts) part->add_open_cores(open_tick, cores);
  std::ranges::stable_sort(cores, {}, &SpikeCoreTime::core);
  return cores;
}

const SpikeSchedule& SpikeMachine::schedule() const { return state_->world.schedule; }
const SpikePlacement& SpikeMachine::placement() const { return state_->world.placement; }
const SpikeTraffic& SpikeMachine::traffic() const { return *state_->world.traffic; }

std::vector<std::int32_t> SpikeMachine::potentials(PopulationId population) const {
  std::vector<std::int32_t> values(static_cast<std::size_t>((*state_->world.net)[population].neurons()));
  for (const auto& part : state_->parts) part->copy_potentials(population, values);
  return values;
}

std::vector<std::int32_t> SpikeMachine::currents(PopulationId population) const {
  std::vector<std::int32_t> values(static_cast<std::size_t>((*state_->world.net)[population].neurons()));
  for (const auto& part : state_->parts) part->copy_currents(population, values);
  return values;
}

void SpikeMachine::set_potentials(PopulationId population, std::span<const std::int32_t> values) {
  for (const auto& part : state_->parts) part->take_potentials(population, values);
}

void SpikeMachine::set_currents(PopulationId population, std::span<const std::int32_t> values) {
  for (const auto& part : state_->parts) part->take_currents(population, values);
}

std::int64_t SpikeMachine::synapses() const {
  std::int64_t sum = 0;
  for (const auto& part : state_->parts) sum += part->synapses();
  return sum;
}

std::int64_t SpikeMachine::bytes() const {
  std::int64_t sum = 0;
  for (const auto& part : state_->parts) sum += part->bytes();
  return sum;
}

bool SpikeMachine::is_proven() const {
  const auto& cuts = state_->world.cuts;
  return std::find(cuts.begin(), cuts.end(), 1) == cuts.end();
}

SpikeCounts SpikeReport::total() const {
  SpikeCounts sum;
  for (const SpikeCounts& one : slices) sum += one;
  return sum;
}

}  // namespace taskspec
