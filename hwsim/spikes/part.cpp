#include "hwsim/spikes/part.hpp"

#include <algorithm>
#include <limits>

namespace taskspec {

namespace {

constexpr std::int64_t most_graded = 128;  // of a byte

// A number of 64 bits for two of them; sums of such numbers do not depend on the order.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15U + b + 1;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Packets that begin to leave at `begin`, one behind the other.
void note_packets(SpikeCoreTime& core, std::int64_t begin, std::int64_t takes) {
  if (core.last_packet == 0) core.first_packet = begin;
  core.last_packet = std::max<std::int64_t>(1, begin + takes);
}

std::int32_t cut_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      std::int64_t{a} + b, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

SpikePart::SpikePart(const SpikeWorld& world, std::size_t first, std::size_t last)
    : world_(world), first_unit_(first), last_unit_(last), from_(world.net->populations.size()) {
  const SpikingNet& net = *world.net;
  for (std::size_t i = first; i < last; ++i) {
    const SpikeSlice& unit = world.units[i];
    if (pieces_.empty() || pieces_.back().population != unit.population) {
      Piece piece;
      piece.begin = piece.end = unit.begin;
      piece.at = neurons_;
      piece.population = unit.population;
      piece.first_unit = i;
      pieces_.push_back(std::move(piece));
    }
    pieces_.back().end = unit.end;
    pieces_.back().last_unit = i + 1;
    neurons_ += unit.neurons();
    const auto core = std::find(cores_.begin(), cores_.end(), unit.core);
    core_at_.push_back(static_cast<std::size_t>(core - cores_.begin()));
    if (core == cores_.end()) cores_.push_back(unit.core);
  }
  for (Piece& piece : pieces_) {
    const SpikePopulation& population = net[piece.population];
    if (piece.neurons() > 0 && std::holds_alternative<ClifNeurons>(population.model))
      piece.clif.emplace(population, piece.begin, piece.end);
    if (piece.neurons() > 0 && std::holds_alternative<GradedSums>(population.model))
      piece.sums.emplace(std::get<GradedSums>(population.model), piece.neurons());
    for (std::size_t c = 0; c < net.connections.size(); ++c)
      if (net.connections[c].to == piece.population)
        from_[net.connections[c].from.index()].push_back(
            {c, static_cast<std::size_t>(&piece - pieces_.data()), PartSynapses(net, net.connections[c], piece)});
  }
  for (auto& into : from_)
    std::sort(into.begin(), into.end(), [](const Into& a, const Into& b) { return a.connection < b.connection; });
  bias_.resize(static_cast<std::size_t>(neurons_));
  for (const Piece& piece : pieces_)
    if (const auto& bias = net[piece.population].bias; !bias.empty())
      std::copy(bias.begin() + piece.begin, bias.begin() + piece.end, bias_.begin() + piece.at);
  fires_.resize(bias_.size());
  for (auto& lists : lists_) {
    lists.resize(net.populations.size());
    for (const Piece& piece : pieces_) {
      lists[piece.population.index()].room.resize(static_cast<std::size_t>(piece.neurons()));
      if (piece.sums) lists[piece.population.index()].values.resize(static_cast<std::size_t>(piece.neurons()));
    }
  }
  if (world.options.accounted) {
    updated_.resize(bias_.size());
    arrivals_.resize(last - first);
  }
  reset();
}

void SpikePart::reset() {
  const auto n = static_cast<std::size_t>(neurons_), slots = static_cast<std::size_t>(world_.schedule.slots());
  sums_.assign(n * slots, 0);
  u_.assign(n, 0);
  v_.assign(n, 0);
  if (world_.options.accounted) arrived_.assign(n * slots, 0);
  if (world_.options.accounted)
    open_.assign(static_cast<std::size_t>(world_.schedule.deepest()) + 1,
                 {std::vector<SpikeCoreTime>(cores_.size()), 0});
  begun_ = steps_ = 0;
  for (Piece& piece : pieces_) {
    const auto& potentials = (*world_.net)[piece.population].potentials;
    if (!potentials.empty())
      std::copy(potentials.begin() + piece.begin, potentials.begin() + piece.end, v_.begin() + piece.at);
    piece.late.clear();
    if (!(*world_.net)[piece.population].sums_begin_at_bias()) continue;
    if (piece.clif) piece.clif->reset();
    if (const auto* clif = std::get_if<ClifNeurons>(&(*world_.net)[piece.population].model))
      std::fill_n(u_.begin() + piece.at, piece.neurons(), clif->first_current);
    for (std::size_t slot = 0; slot < slots; ++slot)  // a sum begins at the bias
      std::copy_n(bias_.begin() + piece.at, piece.neurons(),
                  sums_.begin() + static_cast<std::ptrdiff_t>(slot * n) + piece.at);
  }
}

void SpikePart::begin_run(std::int64_t steps) {
  begun_ += steps_;
  steps_ = steps;
  events_ = spike_hash_ = outside_messages_ = 0;
  spikes_of_.assign(world_.net->populations.size(), 0);
  recorded_.assign(world_.net->populations.size(), {});
  counts_.assign(world_.options.accounted ? last_unit_ - first_unit_ : 0, {});
  tick_times_.clear();
  core_times_.clear();
}

std::int64_t SpikePart::step_of(PopulationId population, std::int64_t tick) const {
  const std::int64_t step = tick - world_.schedule.depth[population.index()];
  return step >= 0 && step < steps_ ? step : -1;
}

SpikeWheel SpikePart::wheel() {
  return {sums_.data(), arrived_.empty() ? nullptr : arrived_.data(), neurons_, world_.schedule.slots()};
}

NeuronRow SpikePart::row(const Piece& piece, std::int64_t slot) {
  return {sums_.data() + slot * neurons_ + piece.at, u_.data() + piece.at, v_.data() + piece.at,
          bias_.data() + piece.at, fires_.data() + piece.at};
}

// ---- neurons ----

void SpikePart::update(std::span<const PopulationId> level, std::int64_t tick, int turn,
                       const SpikeStimulus& stimulus) {
  for (SpikeList& list : lists_[turn]) list.count = 0;
  packets_[turn].clear();
  for (Piece& piece : pieces_) {
    if (std::find(level.begin(), level.end(), piece.population) == level.end()) continue;
    if (const std::int64_t t = step_of(piece.population, tick); t >= 0) step(piece, tick, t, turn, stimulus);
  }
}

void SpikePart::step(Piece& piece, std::int64_t tick, std::int64_t t, int turn, const SpikeStimulus& stimulus) {
  if (piece.neurons() == 0) {  // tiles alone
    if (world_.options.accounted) account(piece, tick, {}, turn);
    return;
  }
  const SpikePopulation& population = (*world_.net)[piece.population];
  const std::int64_t slot = (begun_ + t) % world_.schedule.slots();
  const NeuronRow at = row(piece, slot);
  add_late(piece, slot);
  add_current(piece, t, stimulus, at.sums);
  if (world_.options.accounted) {
    std::uint8_t* arrived = arrived_.data() + slot * neurons_ + piece.at;
    mark_updated(arrived, at, updated_.data() + piece.at, piece.neurons());
    std::fill_n(arrived, piece.neurons(), std::uint8_t{0});
  }
  SpikeList& list = lists_[turn][piece.population.index()];
  if (piece.clif)
    piece.clif->step(at);
  else if (piece.sums)
    list.count = piece.sums->step(at, static_cast<std::uint32_t>(piece.begin), list.room.data(), list.values.data());
  else if (const auto* loihi = std::get_if<LoihiNeurons>(&population.model))
    step_loihi(*loihi, at, piece.neurons());
  else
    step_truenorth(std::get<TrueNorthNeurons>(population.model), at, piece.neurons());

  if (!piece.sums)
    list.count = compact(at.fires, piece.neurons(), static_cast<std::uint32_t>(piece.begin), list.room.data());
  const auto spikes = std::span<const std::uint32_t>(list.room).first(list.count);
  const auto step = static_cast<std::uint64_t>(begun_ + t);
  const std::size_t first = world_.first[piece.population.index()];
  for (const std::uint32_t neuron : spikes) spike_hash_ += mixed(step, first + neuron);
  spikes_of_[piece.population.index()] += spikes.size();
  for (std::size_t i = 0; piece.sums && i < spikes.size(); ++i)
    spike_hash_ += mixed(spikes[i], static_cast<std::uint32_t>(list.values[i]));
  for (std::size_t i = 0; population.recorded && i < spikes.size(); ++i)
    recorded_[piece.population.index()].push_back(
        {static_cast<std::uint32_t>(step), spikes[i], piece.sums ? list.values[i] : 1});
  if (world_.options.accounted) account(piece, tick, spikes, turn);
}

// By source, then by synapse, whenever they were fired.
void SpikePart::add_late(Piece& piece, std::int64_t slot) {
  if (piece.late.empty()) return;
  std::vector<LateAddition>& late = piece.late[static_cast<std::size_t>(slot)];
  std::sort(late.begin(), late.end());
  for (const LateAddition& addition : late) {
    const auto at = static_cast<std::size_t>(slot * neurons_ + addition.target);
    sums_[at] = cut_sum(sums_[at], addition.weight);
    if (!arrived_.empty()) arrived_[at] = 1;
  }
  late.clear();
}

void SpikePart::add_current(const Piece& piece, std::int64_t t, const SpikeStimulus& stimulus,
                            std::int32_t* sums) const {
  for (const SpikeCurrent& current : stimulus.currents) {
    if (current.population != piece.population) continue;
    const std::int64_t all = (*world_.net)[piece.population].neurons();
    const bool is_constant = static_cast<std::int64_t>(current.values.size()) == all;
    const std::int32_t* values = current.values.data() + (is_constant ? 0 : t * all) + piece.begin;
    std::uint8_t* arrived =
        arrived_.empty() ? nullptr : const_cast<std::uint8_t*>(arrived_.data()) + (sums - sums_.data());
    for (std::int64_t i = 0; i < piece.neurons(); ++i) {
      sums[i] = cut_sum(sums[i], values[i]);
      if (arrived && values[i] != 0) arrived[i] = 1;
    }
  }
}

// A core looks at its neurons in order; a spike's packets leave when it has come to the neuron.
void SpikePart::account(const Piece& piece, std::int64_t tick, std::span<const std::uint32_t> spikes, int turn) {
  const SpikeCosts& costs = world_.options.costs;
  const std::size_t first = world_.first[piece.population.index()];
  OpenTick& open = open_tick(tick);
  auto spike = spikes.begin();
  for (std::size_t i = piece.first_unit; i < piece.last_unit; ++i) {
    const SpikeSlice& unit = world_.units[i];
    SpikeCounts& counts = counts_[i - first_unit_];
    add_tile(i, open);
    SpikeCoreTime& core = open.cores[core_at_[i - first_unit_]];
    std::int64_t& clock = core.neurons;
    const std::uint8_t* updated = updated_.data() + piece.at - piece.begin;  // by neuron of the population
    std::int64_t looked_at = unit.begin;
    const auto look = [&](std::int64_t until) {
      const std::int64_t updates = sum_of(updated + looked_at, until - looked_at);
      clock += (until - looked_at) * costs.access + updates * costs.update;
      counts.updates += static_cast<std::uint64_t>(updates);
      looked_at = until;
    };
    for (; spike != spikes.end() && *spike < unit.end; ++spike) {
      look(std::int64_t{*spike} + 1);
      clock += costs.spike;
      const NeuronTraffic& traffic = world_.traffic->of(first + *spike);
      if (world_.options.network) {
        std::int64_t leaves = clock;
        for (const SpikeArrival& arrival : world_.traffic->arrivals(first + *spike))
          if (arrival.is_message)
            packets_[turn].push_back({leaves += costs.message_out, unit.core, world_.units[arrival.slice].core});
      }
      if (traffic.messages > 0) {
        open.last_packet = std::max(open.last_packet, clock + traffic.latency);
        note_packets(core, clock, traffic.messages * costs.message_out);
      }
      clock += traffic.messages * costs.message_out;
      ++counts.spikes;
      counts.messages_out += traffic.messages;
      counts.hop_x += traffic.hop_x, counts.hop_y += traffic.hop_y, counts.borders += traffic.borders;
    }
    look(unit.end);
    counts.access += static_cast<std::uint64_t>(unit.neurons());
  }
}

// What a tile sends, and what the tiles of a slice have sent to it. Sums do not wait for one another.
void SpikePart::add_tile(std::size_t unit, OpenTick& open) {
  const SpikeCosts& costs = world_.options.costs;
  SpikeCounts& counts = counts_[unit - first_unit_];
  SpikeCoreTime& core = open.cores[core_at_[unit - first_unit_]];
  std::int64_t& clock = core.neurons;
  for (std::size_t t = unit + 1; t <= unit + static_cast<std::size_t>(world_.units[unit].tiles); ++t) {
    counts.messages_in += static_cast<std::uint64_t>(world_.traffic->tile(t).packets);
    clock += world_.traffic->tile(t).packets * costs.message_in;
  }
  const TileTraffic& sent = world_.traffic->tile(unit);
  if (sent.packets == 0) return;
  const auto packets = static_cast<std::uint64_t>(sent.packets);
  counts.messages_out += packets;
  counts.hop_x += packets * static_cast<std::uint64_t>(sent.hops.x);
  counts.hop_y += packets * static_cast<std::uint64_t>(sent.hops.y);
  counts.borders += packets * static_cast<std::uint64_t>(sent.hops.borders());
  note_packets(core, clock, std::max(sent.packets, sent.packets * costs.message_out));
  clock += sent.packets * costs.message_out;
  open.last_packet = std::max(open.last_packet, clock + sent.packets - 1 + sent.hops.latency(costs));
}

// ---- synapses ----

void SpikePart::deliver(PopulationId from, const SpikesGiven& given, std::int64_t tick) {
  const std::span<const std::uint32_t> sources = given.neurons;
  if (sources.empty()) return;
  const std::int64_t t = step_of(from, tick);
  const SpikeWheel sums = wheel();
  for (const Into& into : from_[from.index()]) {
    const auto slot = static_cast<std::int32_t>((begun_ + t + world_.schedule.delay[into.connection]) % sums.slots);
    Piece& piece = pieces_[into.piece];
    if (!world_.cuts[piece.population.index()]) {
      events_ += given.values.empty() ? into.synapses.deliver(sources, sums, slot)
                                      : into.synapses.deliver_graded(sources, given.values, sums, slot);
      continue;
    }
    piece.late.resize(static_cast<std::size_t>(sums.slots));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(world_.first[from.index()] + sources[i]);
      events_ += into.synapses.keep(sources[i], given.values.empty() ? 1 : given.values[i],
                                    {.source = number, .connection = static_cast<std::uint32_t>(into.connection)},
                                    piece.late, slot);
    }
  }
  if (world_.options.accounted) count_arrivals(from, sources);
}

void SpikePart::count_arrivals(PopulationId from, std::span<const std::uint32_t> sources) {
  const std::size_t first = world_.first[from.index()];
  const bool is_outside = (*world_.net)[from].is_outside();
  for (const std::uint32_t source : sources) {
    const std::span<const SpikeArrival> all = world_.traffic->arrivals(first + source);
    auto arrival =
        std::partition_point(all.begin(), all.end(), [&](const SpikeArrival& a) { return a.slice < first_unit_; });
    for (; arrival != all.end() && arrival->slice < last_unit_; ++arrival) {
      Arrived& at = arrivals_[arrival->slice - first_unit_];
      at.count[arrival->kind] += arrival->synapses;
      at.count[synapse_kinds] += arrival->is_message;
      if (is_outside) outside_messages_ += arrival->is_message;
    }
  }
}

void SpikePart::finish_tick(std::int64_t tick) {
  if (!world_.options.accounted) return;
  const SpikeCosts& costs = world_.options.costs;
  OpenTick& open = open_tick(tick);
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    Arrived& at = arrivals_[i];
    std::int64_t& time = open.cores[core_at_[i]].synapses;
    for (std::size_t kind = 0; kind < synapse_kinds; ++kind) {
      time += at.count[kind] * costs.synapse[kind];
      counts_[i].synapses[kind] += at.count[kind];
    }
    time += at.count[synapse_kinds] * costs.message_in;
    counts_[i].messages_in += at.count[synapse_kinds];
    at = {};
  }
  if (world_.options.streamed && tick >= steps_) return;
  tick_times_.resize(static_cast<std::size_t>(tick) + 1);
  tick_times_.back() = time_of(open);
  for (std::size_t i = 0; i < open.cores.size(); ++i) {
    SpikeCoreTime& core = open.cores[i];
    core.tick = tick, core.core = cores_[i];
    if (world_.options.keeps_times && core.neurons + core.synapses + core.last_packet > 0) core_times_.push_back(core);
    core = {};
  }
  open.last_packet = 0;
}

SpikePart::OpenTick& SpikePart::open_tick(std::int64_t tick) {
  return open_[static_cast<std::size_t>(begun_ + tick) % open_.size()];
}

std::int64_t SpikePart::time_of(const OpenTick& tick) const {
  std::int64_t longest = world_.options.network ? 0 : tick.last_packet;
  for (const SpikeCoreTime& core : tick.cores) longest = std::max(longest, core.neurons + core.synapses);
  return longest;
}

std::vector<std::int64_t> SpikePart::open_ticks() const {
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i + 1 < open_.size(); ++i)
    times.push_back(time_of(open_[(static_cast<std::size_t>(begun_ + steps_) + i) % open_.size()]));
  return times;
}

void SpikePart::add_open_cores(std::size_t open_tick, std::vector<SpikeCoreTime>& to) const {
  const OpenTick& open = open_[(static_cast<std::size_t>(begun_ + steps_) + open_tick) % open_.size()];
  for (std::size_t i = 0; i < open.cores.size(); ++i) {
    SpikeCoreTime core = open.cores[i];
    core.core = cores_[i];
    if (core.neurons + core.synapses + core.last_packet > 0) to.push_back(core);
  }
}

// ---- results ----

void SpikePart::add_to(SpikeReport& report, std::vector<std::int64_t>& tick_times) const {
  report.events += events_;
  report.hash += spike_hash_;
  report.outside_messages += outside_messages_;
  for (std::size_t p = 0; p < spikes_of_.size(); ++p) {
    report.spikes += spikes_of_[p];
    report.spikes_of[p] += spikes_of_[p];
    auto& all = report.recorded[p];
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), recorded_[p].begin(), recorded_[p].end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end());
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) report.slices[first_unit_ + i] += counts_[i];
  report.cores.insert(report.cores.end(), core_times_.begin(), core_times_.end());
  for (std::size_t i = 0; i < tick_times_.size(); ++i) tick_times[i] = std::max(tick_times[i], tick_times_[i]);
}

void SpikePart::copy_potentials(PopulationId population, std::vector<std::int32_t>& to) const {
  for (const Piece& piece : pieces_)
    if (piece.population == population) std::copy_n(v_.begin() + piece.at, piece.neurons(), to.begin() + piece.begin);
}

void SpikePart::copy_currents(PopulationId population, std::vector<std::int32_t>& to) const {
  for (const Piece& piece : pieces_)
    if (piece.population == population) std::copy_n(u_.begin() + piece.at, piece.neurons(), to.begin() + piece.begin);
}

void SpikePart::take_potentials(PopulationId population, std::span<const std::int32_t> from) {
  for (const Piece& piece : pieces_)
    if (piece.population == population)
      std::copy(from.begin() + piece.begin, from.begin() + piece.end, v_.begin() + piece.at);
}

void SpikePart::take_currents(PopulationId population, std::span<const std::int32_t> from) {
  for (const Piece& piece : pieces_)
    if (piece.population == population)
      std::copy(from.begin() + piece.begin, from.begin() + piece.end, u_.begin() + piece.at);
}

void SpikePart::add_potentials_to(std::uint64_t& hash) const {
  for (const Piece& piece : pieces_)
    for (std::int64_t i = 0; i < piece.neurons(); ++i) {
      const auto at = static_cast<std::size_t>(piece.at + i);
      const std::uint64_t neuron = world_.first[piece.population.index()] + static_cast<std::size_t>(piece.begin + i);
      hash += mixed(neuron, static_cast<std::uint64_t>(v_[at]) << 32 ^ static_cast<std::uint32_t>(u_[at]));
    }
}

void SpikePart::find_bounds(std::vector<std::uint8_t>& cuts) const {
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(neurons_));
  for (const Piece& piece : pieces_)
    if ((*world_.net)[piece.population].sums_begin_at_bias())
      for (std::int64_t i = piece.at; i < piece.at + piece.neurons(); ++i)
        bounds[static_cast<std::size_t>(i)] = std::abs(std::int64_t{bias_[static_cast<std::size_t>(i)]});
  for (const auto& into : from_)
    for (const Into& one : into) {
      const SpikeConnection& connection = world_.net->connections[one.connection];
      one.synapses.add_bounds(connection, (*world_.net)[connection.from].is_graded() ? most_graded : 1, bounds);
    }
  for (const Piece& piece : pieces_)
    for (std::int64_t i = piece.at; i < piece.at + piece.neurons(); ++i)
      if (bounds[static_cast<std::size_t>(i)] >= std::int64_t{1} << 31) cuts[piece.population.index()] = 1;
}

std::int64_t SpikePart::synapses() const {
  std::int64_t sum = 0;
  for (const auto& into : from_)
    for (const Into& one : into) sum += one.synapses.synapses();
  return sum;
}

std::int64_t SpikePart::bytes() const {
  std::int64_t sum = 0;
  for (const auto& into : from_)
    for (const Into& one : into) sum += one.synapses.bytes();
  return sum;
}

}  // namespace taskspec
