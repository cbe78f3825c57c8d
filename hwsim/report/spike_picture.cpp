#include "hwsim/report/spike_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/report/chip_text.hpp"
#include "hwsim/report/link_counts.hpp"
#include "hwsim/spikes/of_chip.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t state_bytes = 4;  // of a neuron
constexpr std::size_t weights_part = 0, state_part = 1;

PerEvent events_of(const SpikeCounts& counts, bool multiplies) {
  PerEvent events;
  auto set = [&](EnergyEvent event, std::uint64_t count) { events[event] = static_cast<std::int64_t>(count); };
  if (multiplies) {
    set(EnergyEvent::mac_i8, counts.synapses[0] + counts.synapses[1] + counts.synapses[2]);
  } else {
    set(EnergyEvent::syn_dense, counts.synapses[0]);
    set(EnergyEvent::syn_sparse, counts.synapses[1]);
    set(EnergyEvent::syn_conv, counts.synapses[2]);
  }
  set(EnergyEvent::access, counts.access);
  set(EnergyEvent::update, counts.updates);
  set(EnergyEvent::spike, counts.spikes);
  set(EnergyEvent::msg, counts.messages_out);
  set(EnergyEvent::in, counts.messages_in);
  set(EnergyEvent::hop_x, counts.hop_x);
  set(EnergyEvent::hop_y, counts.hop_y);
  set(EnergyEvent::chip, counts.borders);
  return events;
}

std::int64_t synapses_of(const PerEvent& counts) {
  return counts[EnergyEvent::syn_dense] + counts[EnergyEvent::syn_sparse] + counts[EnergyEvent::syn_conv] +
         counts[EnergyEvent::mac_i8];
}

// Nothing is published of how long events take, and of a crossbar it is known how many there are in a step at most.
bool counts_crossings(const Chip& chip) {
  const ChipTime& t = chip.time;
  return chip.kind == ChipKind::crossbar && chip.limits.fan_in && chip.limits.neurons &&
         t.message_in + t.message_out + t.synapse_dense + t.synapse_sparse + t.synapse_conv + t.access + t.update +
                 t.spike ==
             0;
}

// By population: its synapses multiply, since numbers come in or go out, no spikes.
std::vector<bool> multiplying(const SpikingNet& net) {
  const auto is_graded = [&](PopulationId p) { return std::holds_alternative<GradedSums>(net[p].model); };
  std::vector<bool> found(net.populations.size());
  for (std::size_t p = 0; p < found.size(); ++p) found[p] = is_graded(PopulationId(p));
  for (const SpikeConnection& connection : net.connections)
    if (is_graded(connection.from)) found[connection.to.index()] = true;
  return found;
}

// Ticks of a core: looking at its neurons and sending, and working off what arrived.
struct Busy {
  std::int64_t neurons = 0, synapses = 0;
  std::int64_t sum() const { return neurons + synapses; }
};

Busy busy_of(const SpikeCounts& counts, const SpikeCosts& costs) {
  auto ticks = [](std::uint64_t count, std::int64_t each) { return static_cast<std::int64_t>(count) * each; };
  Busy busy{ticks(counts.access, costs.access) + ticks(counts.updates, costs.update) +
                ticks(counts.spikes, costs.spike) + ticks(counts.messages_out, costs.message_out),
            ticks(counts.messages_in, costs.message_in)};
  for (std::size_t kind = 0; kind < synapse_kinds; ++kind)
    busy.synapses += ticks(counts.synapses[kind], costs.synapse[kind]);
  return busy;
}

std::int64_t crossbar_bytes(const Chip& chip) {
  return (*chip.limits.fan_in * *chip.limits.neurons * bits_per_synapse(chip) + 7) / 8;
}

// A crossbar is as large as its axons and neurons are many.
std::int64_t core_bytes(const Chip& chip) {
  const ChipLimits& limits = chip.limits;
  if (chip.kind != ChipKind::crossbar || !limits.fan_in || !limits.neurons) return chip.memory_bytes();
  return crossbar_bytes(chip) + *limits.neurons * state_bytes;
}

// Published figures need not go together: then inputs and neurons are what cores are filled up to, and what that takes
// is told beside the memory of the file.
std::optional<std::string> memory_note(const Chip& chip, const ChipAccount& account) {
  const ChipLimits& limits = chip.limits;
  if (chip.kind != ChipKind::crossbar || !limits.fan_in || !limits.neurons) return std::nullopt;
  std::int64_t there = 0, used = 0;
  bool holds_state = false;
  for (const ChipBank& bank : chip.banks) {
    if (bank.holds(BankRole::weight)) there += bank.bytes;
    holds_state |= bank.holds(BankRole::weight) && bank.holds(BankRole::state);
  }
  for (const CoreRow& core : account.cores)
    used = std::max(used, core.bytes_by[weights_part] + (holds_state ? core.bytes_by[state_part] : 0));
  if (used <= there) return std::nullopt;
  return fmt::format(
      "a core takes {} B, and the memory of {} has {} B a core: the {} inputs x {} neurons of its file take {} B with "
      "weights of {}, and these are what cores are checked for",
      used, chip.name, there, *limits.fan_in, *limits.neurons, crossbar_bytes(chip),
      plural(static_cast<std::size_t>(bits_per_synapse(chip)), "bit"));
}

// Packets between cores: of spikes, and of the sums of tiles in each step.
std::vector<LinkRow> links_of(const SpikesOnChip& on, std::int64_t steps) {
  LinkCounts links(*on.chip, on.chips);
  const SpikeTraffic& traffic = on.machine.traffic();
  const std::vector<SpikeSlice>& slices = on.machine.placement().slices;
  const auto add = [&](const SpikeSlice& from, const SpikeSlice& to, std::int64_t packets) {
    if (packets > 0) links.add(links.routes().endpoint(from.core), links.routes().endpoint(to.core), packets);
  };
  std::vector<std::size_t> first;  // by population: number of its first neuron, across populations
  std::size_t neurons = 0;
  for (const SpikePopulation& population : on.net.populations) {
    first.push_back(neurons);
    neurons += static_cast<std::size_t>(population.neurons());
  }
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const std::size_t p = slices[s].population.index();
    for (std::size_t t = s + 1; t <= s + static_cast<std::size_t>(slices[s].tiles); ++t)
      add(slices[t], slices[s], traffic.tile(t).packets * steps);
    for (std::int64_t n = slices[s].begin; n < slices[s].end && p < on.spikes.size(); ++n)
      if (const std::int64_t fired = on.spikes[p][static_cast<std::size_t>(n)])
        for (const SpikeArrival& arrival : traffic.arrivals(first[p] + static_cast<std::size_t>(n)))
          if (arrival.is_message) add(slices[s], slices[arrival.slice], fired);
  }
  return links.rows();
}

class SpikeAccountant {
 public:
  SpikeAccountant(const SpikesOnChip& on, const SpikeClock& clock)
      : on_(on), clock_(clock), costs_(spike_costs(*on.chip)), multiplies_(multiplying(on.net)) {
    made_.steps = std::max<std::int64_t>(1, clock.steps);
    limit_.barrier = barrier_ticks(costs_, on.machine.traffic().tiles());
  }

  ChipAccount account() {
    const SpikePlacement& placement = on_.machine.placement();
    std::vector<std::int32_t> layer(on_.net.populations.size(), -1);
    for (const SpikeSlice& slice : placement.slices) {
      std::int32_t& at = layer[slice.population.index()];
      if (at < 0) at = add_layer(slice.population);
    }
    made_.counts = EnergyCounts(static_cast<std::size_t>(placement.cores()), made_.layers.size());
    made_.cores.resize(static_cast<std::size_t>(placement.cores()));
    for (std::size_t s = 0; s < placement.slices.size(); ++s)
      add(placement.slices[s], layer[placement.slices[s].population.index()], on_.counts[s]);
    for (std::size_t i = 0; i < made_.layers.size(); ++i) finish(made_.layers[i], made_.counts.layers()[i]);
    made_.links = links_of(on_, made_.steps);
    made_.cores_in_chips = on_.chip->grid.cores.area() * on_.chips.area();
    return std::move(made_);
  }

  StepLimit limit() const { return limit_; }  // the busiest core, in an average tick

 private:
  std::int32_t add_layer(PopulationId population) {
    LayerRow row;
    row.name = on_.net[population].name;
    row.phase = on_.machine.schedule().depth[population.index()];
    made_.layers.push_back(std::move(row));
    return static_cast<std::int32_t>(made_.layers.size() - 1);
  }

  // A core whose events take no time is in use as far as its crossings are, once in each step.
  void finish(LayerRow& row, const PerEvent& counts) const {
    const ChipLimits& limits = on_.chip->limits;
    row.energy = energy_of(counts, *on_.chip);
    double most = static_cast<double>(clock_.cycles), used = static_cast<double>(row.cycles);
    if (counts_crossings(*on_.chip)) {
      most = static_cast<double>(*limits.fan_in * *limits.neurons * row.cores * made_.steps);
      used = static_cast<double>(synapses_of(counts));
    }
    row.utilisation = most > 0 ? used / most : 0;
  }

  void add(const SpikeSlice& slice, std::int32_t at, const SpikeCounts& counts) {
    const auto number = static_cast<std::size_t>(slice.core);
    const Busy busy = busy_of(counts, costs_);
    CoreRow& core = made_.cores[number];
    LayerRow& row = made_.layers[static_cast<std::size_t>(at)];
    core.core = slice.core;
    core.layers.push_back(at);
    core.bytes_by[weights_part] = (on_.machine.placement().use[number].synapse_bits + 7) / 8;
    core.bytes_by[state_part] += slice.neurons() * state_bytes;
    core.bytes = core.bytes_by[weights_part] + core.bytes_by[state_part];
    core.busy += busy.sum();
    core.packets += static_cast<std::int64_t>(counts.messages_out);
    made_.memory = std::max(made_.memory, core.bytes);
    made_.busy_clk += busy.sum();
    made_.packets += static_cast<std::int64_t>(counts.messages_out);
    const PerEvent events = events_of(counts, multiplies_[slice.population.index()]);
    made_.counts.add(number, static_cast<std::size_t>(at), events);
    core.multiply_adds += events[EnergyEvent::mac_i8];
    row.multiply_adds += events[EnergyEvent::mac_i8];
    row.neurons += slice.neurons();
    ++row.cores;
    row.cycles = std::max(row.cycles, busy.sum());
    row.bytes_by[weights_part] += core.bytes_by[weights_part];
    row.bytes_by[state_part] += slice.neurons() * state_bytes;
    row.bytes = row.bytes_by[weights_part] + row.bytes_by[state_part];
    row.packets += static_cast<std::int64_t>(counts.messages_out);
    if (busy.sum() / made_.steps <= limit_.stage_cycles) return;
    limit_.phase = row.phase;
    limit_.cycles = clock_.interval;
    limit_.layer = at;
    limit_.core = slice.core;
    limit_.stage = busy.synapses > busy.neurons ? "synapses" : "neurons";
    limit_.stage_cycles = busy.sum() / made_.steps;
  }

  const SpikesOnChip& on_;
  const SpikeClock& clock_;
  const SpikeCosts costs_;
  const std::vector<bool> multiplies_;  // by population
  ChipAccount made_;
  StepLimit limit_;
};

}  // namespace

ChipPicture spike_picture(const SpikesOnChip& spikes, const SpikeClock& clock) {
  SpikeAccountant accountant(spikes, clock);
  ChipPicture picture;
  picture.chip = spikes.chip;
  picture.chips = spikes.chips;
  picture.width = static_cast<std::int32_t>(spikes.chip->grid.cores.x * spikes.chips.x);
  picture.cores_there = spikes.chip->grid.cores.area() * spikes.chips.area();
  picture.core_bytes = core_bytes(*spikes.chip);
  picture.account = accountant.account();
  picture.limit = accountant.limit();
  picture.frames = picture.steps = clock.steps;
  picture.cycles = clock.cycles;
  picture.latency = clock.latency;
  picture.interval = clock.interval;
  if (std::optional<std::string> note = memory_note(*spikes.chip, picture.account))
    picture.notes.push_back(*std::move(note));
  return picture;
}

void add_stages(std::span<const SpikeCoreTime> cores, std::int64_t tick, std::int64_t begin, std::int64_t length,
                std::vector<StageTime>& stages) {
  using Stage = StageTime::Stage;
  for (const SpikeCoreTime& core : cores) {
    const auto add = [&](Stage stage, std::int64_t from, std::int64_t to) {
      if (to > from) stages.push_back({core.core, 0, tick, stage, begin + from, begin + to});
    };
    const std::int64_t done = core.neurons + core.synapses;
    add(Stage::soma, 0, core.neurons);
    add(Stage::axon, core.neurons, done);
    add(Stage::send, core.first_packet, core.last_packet);
    add(Stage::receive, done, length);
  }
}

namespace {

// Sums of all steps. What a layer of a lumped chip takes nobody knows.
std::string populations_table(const ChipPicture& picture) {
  const ChipAccount& account = picture.account;
  const Chip& chip = *picture.chip;
  std::size_t width = 5;
  for (const LayerRow& layer : account.layers) width = std::max(width, layer.name.size());
  const auto energy = [&](const auto& text) { return chip.lumped ? std::string() : fmt::format(" {:>12}", text); };
  std::string text = fmt::format("{:<{}} {:>8} {:>6} {:>5} {:>10} {:>6} {:>9} {:>9} {:>11} {:>9}{}\n", "layer", width,
                                 "neurons", "cores", "late", "cycles", counts_crossings(chip) ? "MAC %" : "busy %",
                                 "bytes", "spikes", "synapses", "packets", energy("pJ"));
  for (std::size_t i = 0; i < account.layers.size(); ++i) {
    const LayerRow& layer = account.layers[i];
    const PerEvent& counts = account.counts.layers()[i];
    text += fmt::format("{:<{}} {:>8} {:>6} {:>5} {:>10} {:>6.1f} {:>9} {:>9} {:>11} {:>9}{}\n", layer.name, width,
                        layer.neurons, layer.cores, layer.phase, layer.cycles, 100 * layer.utilisation, layer.bytes,
                        counts[EnergyEvent::spike], synapses_of(counts), layer.packets,
                        energy(static_cast<double>(layer.energy) / static_cast<double>(energy_units_per_pj)));
  }
  constexpr std::string_view rests[] = {"/limits", "/time"};
  return text + assumed_text(chip, rests, chip.lumped ? PerEvent() : account.counts.total());
}

std::string tick_line(const ChipPicture& picture) {
  const Chip& chip = *picture.chip;
  const StepLimit& limit = picture.limit;
  const bool is_fixed = chip.sync.mode == SyncMode::fixed;
  const std::int64_t least = is_fixed ? chip.sync.phase_clk : chip.sync.tick_clk;
  std::string text = least > 0 && picture.interval <= least
                         ? fmt::format("limit: a {} takes {} clk, whatever happens in it", is_fixed ? "phase" : "tick",
                                       picture.interval)
                         : fmt::format("limit: a tick takes {} clk on average", picture.interval);
  if (limit.barrier > 0) text += fmt::format(", of them {} for the barrier", limit.barrier);
  if (limit.layer >= 0)
    text += fmt::format("; core {} works longest, {} clk, most of them on {} of {}", limit.core, limit.stage_cycles,
                        limit.stage, picture.account.layers[static_cast<std::size_t>(limit.layer)].name);
  return text + "\n";
}

std::string cores_table(const ChipPicture& picture) {
  const ChipAccount& account = picture.account;
  const Chip& chip = *picture.chip;
  const PerEvent counts = account.counts.total();
  std::string text = fmt::format(
      "{} of {} cores, fullest {} B; latency {} clk, interval {} clk; {} synaptic events, {} spikes, {} packets\n",
      account.cores.size(), picture.cores_there, account.memory, picture.latency, picture.interval, synapses_of(counts),
      counts[EnergyEvent::spike], account.packets);
  for (const std::string& note : picture.notes) text += "note: " + note + "\n";
  text += tick_line(picture) + totals_line(picture);
  std::vector<std::string_view> rests = {"/neuron", "/grid", "/clock", "/sync"};
  if (account.packets > 0) {
    rests.insert(rests.end(), {"/noc/topology", "/noc/hop_clk", "/noc/snn_packets"});
    if (picture.noc != name_of(NocModel::ideal)) rests.insert(rests.end(), {"/noc/order", "/noc/link_clk"});
    if (picture.noc.starts_with("flit")) rests.insert(rests.end(), {"/noc/vcs", "/noc/vc_depth"});
    if (picture.chips.area() > 1) rests.insert(rests.end(), {"/noc/chip_packet_clk", "/noc/chip_hop_clk"});
    if (chip.kind == ChipKind::crossbar && chip.runs_ann) rests.emplace_back("/noc/payload_bytes");  // sums of tiles
  }
  return text + assumed_text(chip, rests, {});
}

}  // namespace

std::string spike_text(const ChipPicture& picture) {
  return populations_table(picture) + cores_table(picture) + energy_table(picture) + hash_line(picture);
}

}  // namespace taskspec
