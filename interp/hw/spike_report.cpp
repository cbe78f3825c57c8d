// What spiking populations on a chip tell in reports: a row for each population, what happened, what it costs.
#include <fmt/format.h>

#include <algorithm>

#include "hwsim/spikes/of_chip.hpp"
#include "interp/hw/hw_report.hpp"
#include "interp/hw/spike_run.hpp"

namespace taskspec {

namespace {

PerEvent events_of(const SpikeCounts& counts) {
  PerEvent events;
  auto set = [&](EnergyEvent event, std::uint64_t count) { events[event] = static_cast<std::int64_t>(count); };
  set(EnergyEvent::syn_dense, counts.synapses[0]);
  set(EnergyEvent::syn_sparse, counts.synapses[1]);
  set(EnergyEvent::syn_conv, counts.synapses[2]);
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

std::int64_t busy_ticks(const SpikeCounts& counts, const SpikeCosts& costs) {
  auto ticks = [](std::uint64_t count, std::int64_t each) { return static_cast<std::int64_t>(count) * each; };
  std::int64_t sum = ticks(counts.messages_in, costs.message_in) + ticks(counts.access, costs.access) +
                     ticks(counts.updates, costs.update) + ticks(counts.spikes, costs.spike) +
                     ticks(counts.messages_out, costs.message_out);
  for (std::size_t kind = 0; kind < synapse_kinds; ++kind) sum += ticks(counts.synapses[kind], costs.synapse[kind]);
  return sum;
}

struct SpikeCore {
  std::int32_t core = 0;
  std::int64_t bytes = 0, busy = 0;
  SpikeCounts counts;
};

struct SpikeLayer {
  std::string name;
  std::int64_t cores = 0, depth = 0, busiest = 0, bytes = 0, neurons = 0;
  SpikeCounts counts = {};
};

// Of all steps.
class SpikeAccount {
 public:
  explicit SpikeAccount(const SpikeRun& run) : cycles(run.cycles()), steps(std::max<std::int64_t>(1, run.version())) {
    const SpikeCosts costs = spike_costs(run.chip());
    const SpikePlacement& placement = run.machine().placement();
    const std::int64_t state_bytes = 4;
    std::vector<std::size_t> layer(run.net().populations.size(), SIZE_MAX);
    for (std::size_t s = 0; s < placement.slices.size(); ++s) {
      const SpikeSlice& slice = placement.slices[s];
      const SpikeUse& use = placement.use[static_cast<std::size_t>(slice.core)];
      const std::int64_t bytes = (use.synapse_bits + 7) / 8 + slice.neurons() * state_bytes;
      cores.push_back({slice.core, bytes, busy_ticks(run.counts()[s], costs), run.counts()[s]});
      std::size_t& at = layer[slice.population.index()];
      if (at == SIZE_MAX) {
        at = layers.size();
        layers.emplace_back();
        layers.back().name = run.net()[slice.population].name;
        layers.back().depth = run.machine().schedule().depth[slice.population.index()];
      }
      SpikeLayer& of = layers[at];
      ++of.cores;
      of.busiest = std::max(of.busiest, cores.back().busy);
      of.bytes += bytes, of.neurons += slice.neurons();
      of.counts += run.counts()[s];
      total += run.counts()[s];
    }
  }
  std::int64_t cycles, steps;
  std::vector<SpikeLayer> layers;
  std::vector<SpikeCore> cores;
  SpikeCounts total;
};

const SpikeRun& spike_run(const std::shared_ptr<ChipRun>& run) { return static_cast<const SpikeRun&>(*run); }

// What cores of the chips in use do not do is idle time.
PerEvent events_of(const SpikeRun& run, const SpikeAccount& account) {
  PerEvent events = events_of(account.total);
  std::int64_t busy = 0;
  for (const SpikeCore& core : account.cores) busy += core.busy;
  events[EnergyEvent::core_clk] = busy;
  const std::int64_t all = run.chip().grid.cores.area() * account.cycles;
  events[EnergyEvent::idle_clk] = std::max<std::int64_t>(0, all - busy);
  return events;
}

}  // namespace

std::vector<Value> spike_report(const ChipRuns& runs, const Chip& chip) {
  std::int64_t cycles = 0, memory = 0, packets = 0;
  PerEvent events;
  List layers, cores;
  for (const std::shared_ptr<ChipRun>& run : runs) {
    const SpikeAccount account(spike_run(run));
    events += events_of(spike_run(run), account);
    cycles += account.cycles;
    packets += static_cast<std::int64_t>(account.total.messages_out);
    for (const SpikeLayer& layer : account.layers)
      layers.push_back(layer_value(
          {.name = layer.name,
           .cores = layer.cores,
           .phase = layer.depth,
           .cycles = layer.busiest / account.steps,
           .multiply_adds = 0,
           .bytes = layer.bytes,
           .packets = static_cast<std::int64_t>(layer.counts.messages_out) / account.steps,
           .energy = energy_of(events_of(layer.counts), chip) / account.steps,
           .utilisation =
               account.cycles == 0 ? 0 : static_cast<double>(layer.busiest) / static_cast<double>(account.cycles)}));
    for (const SpikeCore& core : account.cores) {
      memory = std::max(memory, core.bytes);
      cores.push_back(core_value(core.core, core.bytes, core.busy / account.steps,
                                 energy_of(events_of(core.counts), chip) / account.steps));
    }
  }
  return {Value(cycles),
          Value(static_cast<double>(cycles) / static_cast<double>(chip.hz)),
          energy_value(energy_of(events, chip)),
          energy_by(events, chip),
          Value(memory),
          Value(packets),
          Value(std::move(layers)),
          Value(std::move(cores))};
}

std::string spike_report_text(const ChipRuns& runs, const Chip& chip) {
  std::string text;
  std::int64_t cycles = 0, steps = 0;
  PerEvent events;
  for (const std::shared_ptr<ChipRun>& one : runs) {
    const SpikeRun& run = spike_run(one);
    const SpikeAccount account(run);
    events += events_of(run, account);
    cycles += account.cycles, steps += run.version();
    std::size_t width = 5;
    for (const SpikeLayer& layer : account.layers) width = std::max(width, layer.name.size());
    text += fmt::format("{:<{}} {:>8} {:>6} {:>6} {:>10} {:>12} {:>10}\n", "layer", width, "neurons", "cores", "late",
                        "spikes", "synapses", "packets");
    for (const SpikeLayer& layer : account.layers) {
      const std::uint64_t synapses = layer.counts.synapses[0] + layer.counts.synapses[1] + layer.counts.synapses[2];
      text += fmt::format("{:<{}} {:>8} {:>6} {:>6} {:>10} {:>12} {:>10}\n", layer.name, width, layer.neurons,
                          layer.cores, layer.depth, layer.counts.spikes, synapses, layer.counts.messages_out);
    }
    text += fmt::format("{} of {} cores; {} synaptic events, {} spikes, {} packets, hash {:016x}\n",
                        account.cores.size(), chip.grid.cores.area(),
                        account.total.synapses[0] + account.total.synapses[1] + account.total.synapses[2],
                        account.total.spikes, account.total.messages_out, run.hash());
    for (const std::string& note : run.notes()) text += "note: " + note + "\n";
  }
  const double seconds = static_cast<double>(cycles) / static_cast<double>(chip.hz);
  text += fmt::format("{}: {} steps, {} clk, {:.6g} s, {}{}\n", chip.name, steps, cycles, seconds,
                      energy_pj(energy_of(events, chip)), chip.lumped ? ", one figure for the whole chip" : "");
  text += assumed_text(chip);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace taskspec
