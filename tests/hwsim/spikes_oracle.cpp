#include "tests/hwsim/spikes_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace taskspec::oracle {

namespace {

struct Synapse {
  std::size_t target;
  double weight;
  int delay;
};

// By connection and source.
using Synapses = std::vector<std::vector<std::vector<Synapse>>>;

Synapses all_synapses(const SpikingNet& net, const std::vector<std::int32_t>& delay) {
  Synapses all;
  for (std::size_t c = 0; c < net.connections.size(); ++c) {
    const SparseSynapses rows = expanded(net, net.connections[c]);
    auto& of = all.emplace_back(rows.offsets.size() - 1);
    for (std::size_t s = 0; s < of.size(); ++s)
      for (std::size_t i = rows.offsets[s]; i < rows.offsets[s + 1]; ++i)
        of[s].push_back({rows.targets[i], static_cast<double>(rows.weights[i]),
                         delay[c] + (rows.delays.empty() ? 0 : rows.delays[i])});
  }
  return all;
}

double cut(double x, double least, double most) { return std::min(std::max(x, least), most); }
double cut32(double x) { return cut(x, -2147483648.0, 2147483647.0); }
double cut28(double x) { return cut(x, -134217728.0, 134217727.0); }

struct Neuron {
  double u = 0, v = 0, count = 0, theta = 0;
};

bool loihi(const LoihiNeurons& m, Neuron& n, double sum, double bias) {
  n.u = std::trunc(n.u * (4096 - m.du) / 4096) + std::fmod(sum * 64, 16777216.0);
  while (n.u >= 8388608) n.u -= 16777216;
  while (n.u < -8388608) n.u += 16777216;
  n.v = cut(std::trunc(n.v * (4096 - m.dv) / 4096) + n.u + bias, -8388607, 8388607);
  if (n.v <= m.threshold * 64.0) return false;
  n.v = 0;
  return true;
}

bool truenorth(const TrueNorthNeurons& m, Neuron& n, double sum, double bias) {
  n.v = cut(n.v + sum + m.leak + bias, -524288, 524287);
  if (n.v < m.threshold) return false;
  n.v = m.subtracts ? cut(n.v - m.threshold, -524288, 524287) : m.reset;
  return true;
}

// The shift register that all neurons of a population draw from.
double drawn(std::uint32_t& state, std::int32_t mask) {
  const std::uint32_t bit = (state ^ state >> 1 ^ state >> 2 ^ state >> 3 ^ state >> 5 ^ state >> 7) & 1;
  state = bit << 31 | state >> 1;
  const auto r = static_cast<std::int32_t>(state);
  const std::int32_t m =
      r >= 0 ? r & mask : -static_cast<std::int32_t>(~static_cast<std::uint32_t>(r) & static_cast<std::uint32_t>(mask));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(m) << 4) / 16;
}

bool clif(const TaskBlock& b, Neuron& n, double input, double random) {
  const auto is = [&](const char* name) { return static_cast<double>(b.attribute(name)); };
  const double threshold = std::max(cut28(is("vth0") + n.theta + random), is("vl"));
  const double charge = cut28(n.v + (n.count == 0 ? input : 0));
  const bool spikes = charge > threshold;
  double after = charge;
  if (spikes && b.attribute("reset_mode") == 0) after = is("vr");
  if (spikes && b.attribute("reset_mode") == 1) after = charge - threshold;
  if (spikes && b.attribute("reset_mode") == 2) after = charge - is("dv");
  if (b.attribute("vleaky_adpt_en") != 0) after = std::floor(after * is("vleaky_alpha") / 256);
  n.v = std::max(cut28(after + is("vleaky_beta")), is("vl"));
  n.count = spikes ? is("ref_len") : std::max(0.0, n.count - 1);
  return spikes;
}

class Walk {
 public:
  Walk(const SpikingNet& net, const std::vector<std::int32_t>& delay, std::int64_t steps, const SpikeStimulus& stimulus)
      : net_(net), steps_(steps), stimulus_(stimulus), synapses_(all_synapses(net, delay)) {}

  Truth run() {
    const std::size_t count = net_.populations.size();
    truth_.spikes.resize(count), truth_.updated.resize(count), neurons_.resize(count), registers_.resize(count);
    for (std::size_t p = 0; p < count; ++p) {
      const SpikePopulation& population = net_.populations[p];
      neurons_[p].resize(size(p));
      for (std::size_t i = 0; i < population.potentials.size(); ++i) neurons_[p][i].v = population.potentials[i];
      if (const auto* m = std::get_if<ClifNeurons>(&population.model)) {
        registers_[p] = static_cast<std::uint32_t>(m->block.attribute("seed"));
        for (std::size_t i = 0; i < size(p); ++i)
          neurons_[p][i].theta =
              m->thresholds.empty() ? static_cast<double>(m->block.attribute("vtheta_const")) : m->thresholds[i];
      }
    }
    for (std::int64_t t = 0; t < steps_; ++t)
      for (std::size_t p = 0; p < count; ++p) step(p, t);
    for (std::size_t p = 0; p < count; ++p) {
      auto& v = truth_.potentials.emplace_back();
      for (const Neuron& n : neurons_[p]) v.push_back(static_cast<std::int32_t>(n.v));
    }
    return truth_;
  }

 private:
  std::size_t size(std::size_t p) const { return static_cast<std::size_t>(net_.populations[p].neurons()); }

  void step(std::size_t p, std::int64_t t) {
    const SpikePopulation& population = net_.populations[p];
    auto& spikes = truth_.spikes[p].emplace_back(size(p), 0);
    auto& updated = truth_.updated[p].emplace_back(size(p), 0);
    if (population.is_outside()) {
      for (const SpikeTrain& train : stimulus_.trains)
        if (train.population.index() == p)
          for (std::uint32_t i = train.offsets[t]; i < train.offsets[t + 1]; ++i) spikes[train.neurons[i]] = 1;
    } else {
      gather(p, t, updated);
      for (std::size_t i = 0; i < size(p); ++i) {
        const double bias = population.bias.empty() ? 0 : population.bias[i];
        Neuron& n = neurons_[p][i];
        if (n.u != 0 || n.v != 0 || bias != 0) updated[i] = 1;
        if (const auto* m = std::get_if<LoihiNeurons>(&population.model))
          spikes[i] = loihi(*m, n, sums_[i], bias);
        else if (const auto* north = std::get_if<TrueNorthNeurons>(&population.model))
          spikes[i] = truenorth(*north, n, sums_[i], bias);
        else
          spikes[i] = fires(std::get<ClifNeurons>(population.model), p, i, n);
      }
    }
    for (std::size_t c = 0; c < net_.connections.size(); ++c)
      if (net_.connections[c].from.index() == p)
        for (std::size_t s = 0; s < size(p); ++s)
          if (spikes[s]) truth_.events += synapses_[c][s].size();
  }

  bool fires(const ClifNeurons& m, std::size_t p, std::size_t i, Neuron& n) {
    const auto mask = m.masks.empty() ? static_cast<std::int32_t>(m.block.attribute("vm_const")) : m.masks[i];
    return clif(m.block, n, sums_[i], drawn(registers_[p], mask));
  }

  // By source, then by connection and synapse.
  void gather(std::size_t p, std::int64_t t, std::vector<char>& updated) {
    const SpikePopulation& population = net_.populations[p];
    sums_.assign(size(p), 0);
    if (std::holds_alternative<ClifNeurons>(population.model) && !population.bias.empty())
      std::copy(population.bias.begin(), population.bias.end(), sums_.begin());
    for (std::size_t from = 0; from < net_.populations.size(); ++from)
      for (std::size_t s = 0; s < size(from); ++s)
        for (std::size_t c = 0; c < net_.connections.size(); ++c) {
          if (net_.connections[c].from.index() != from || net_.connections[c].to.index() != p) continue;
          for (const Synapse& synapse : synapses_[c][s]) {
            const std::int64_t then = t - synapse.delay;
            if (then < 0 || !truth_.spikes[from][static_cast<std::size_t>(then)][s]) continue;
            sums_[synapse.target] = cut32(sums_[synapse.target] + synapse.weight);
            updated[synapse.target] = 1;
          }
        }
    for (const SpikeCurrent& current : stimulus_.currents)
      if (current.population.index() == p)
        for (std::size_t i = 0; i < size(p); ++i) {
          const bool same = current.values.size() == size(p);
          const double value = current.values[(same ? 0 : static_cast<std::size_t>(t) * size(p)) + i];
          sums_[i] = cut32(sums_[i] + value);
          if (value != 0) updated[i] = 1;
        }
  }

  const SpikingNet& net_;
  std::int64_t steps_;
  const SpikeStimulus& stimulus_;
  Synapses synapses_;
  Truth truth_;
  std::vector<std::vector<Neuron>> neurons_;
  std::vector<std::uint32_t> registers_;
  std::vector<double> sums_;
};

}  // namespace

Truth run(const SpikingNet& net, const std::vector<std::int32_t>& delay, std::int64_t steps,
          const SpikeStimulus& stimulus) {
  return Walk(net, delay, steps, stimulus).run();
}

Bill bill(const SpikingNet& net, const Truth& truth, const SpikePlacement& placement, const SpikeSchedule& schedule,
          const SpikeCosts& costs, const SpikeGrid& grid, std::int64_t steps) {
  const Synapses synapses = all_synapses(net, schedule.delay);
  const auto core_of = [&](std::size_t p, std::int64_t n) {
    for (const SpikeSlice& slice : placement.slices)
      if (slice.population.index() == p && n >= slice.begin && n < slice.end) return slice.core;
    return -1;
  };
  Bill made;
  SpikeCounts& total = made.total;
  for (std::int64_t tick = 0; tick < steps + schedule.deepest(); ++tick) {
    std::map<std::int32_t, std::int64_t> soma, input;
    std::int64_t last = 0;
    for (const auto& level : schedule.levels)
      for (const PopulationId id : level) {
        const std::size_t p = id.index();
        const std::int64_t t = tick - schedule.depth[p];
        if (t < 0 || t >= steps) continue;
        const bool outside = net.populations[p].is_outside();
        for (std::int64_t n = 0; n < net.populations[p].neurons(); ++n) {
          const std::int32_t core = core_of(p, n);
          const bool spikes = truth.spikes[p][static_cast<std::size_t>(t)][static_cast<std::size_t>(n)];
          if (!outside) {
            soma[core] += costs.access;
            ++total.access;
            if (truth.updated[p][static_cast<std::size_t>(t)][static_cast<std::size_t>(n)])
              soma[core] += costs.update, ++total.updates;
            if (spikes) soma[core] += costs.spike, ++total.spikes;
          }
          if (!spikes) continue;
          std::set<std::int32_t> reached;
          for (std::size_t c = 0; c < net.connections.size(); ++c) {
            if (net.connections[c].from.index() != p) continue;
            const auto kind = static_cast<std::size_t>(net.connections[c].kind());
            for (const Synapse& synapse : synapses[c][static_cast<std::size_t>(n)]) {
              const std::int32_t to = core_of(net.connections[c].to.index(), static_cast<std::int64_t>(synapse.target));
              reached.insert(to);
              input[to] += costs.synapse[kind];
              ++total.synapses[kind];
            }
          }
          for (const std::int32_t to : reached) {
            input[to] += costs.message_in;
            ++total.messages_in;
            if (outside) continue;
            ++total.messages_out;
            soma[core] += costs.message_out;
            const std::int32_t per = grid.cores_per_router, w = grid.width;
            const std::int64_t dx = std::abs(core / per % w - to / per % w),
                               dy = std::abs(core / per / w - to / per / w);
            const std::int64_t cx = std::abs(core / per % w / grid.chip_width - to / per % w / grid.chip_width),
                               cy = std::abs(core / per / w / grid.chip_height - to / per / w / grid.chip_height);
            total.hop_x += static_cast<std::uint64_t>(dx), total.hop_y += static_cast<std::uint64_t>(dy);
            total.borders += static_cast<std::uint64_t>(cx + cy);
            last = std::max(
                last, soma[core] + dx * costs.hop_x + dy * costs.hop_y + cx * costs.border_x + cy * costs.border_y);
          }
        }
      }
    std::int64_t longest = last;
    for (const auto& [core, time] : soma) input[core] += time;
    for (const auto& [core, time] : input) longest = std::max(longest, time);
    made.ticks.push_back(longest);
  }
  return made;
}

std::vector<SpikeAt> listed(const std::vector<std::vector<char>>& spikes) {
  std::vector<SpikeAt> list;
  for (std::uint32_t t = 0; t < spikes.size(); ++t)
    for (std::uint32_t n = 0; n < spikes[t].size(); ++n)
      if (spikes[t][n]) list.push_back({t, n});
  return list;
}

}  // namespace taskspec::oracle
