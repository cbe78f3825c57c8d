#include "hwsim/report/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace taskspec {

namespace {

class Accountant {
 public:
  Accountant(const ChipProgram& program, const ChipTiming& timing)
      : program_(program), timing_(timing), chip_(*program.chip) {
    for (const ChipProgram::Turn& turn : program.order) {
      if (turn.core == host_core || turn.moves) continue;
      if (layer_of_.try_emplace(turn.unit, layer_of_.size()).second) {
        LayerRow row;
        row.name = (*program.net.graph)[turn.unit].name;
        row.phase = turn.phase;
        made_.layers.push_back(std::move(row));
      }
    }
    made_.counts = EnergyCounts(program.cores.size(), made_.layers.size());
  }

  ChipAccount account() {
    for (const ChipProgram::Turn& turn : program_.order)
      if (turn.core != host_core) turn.moves ? add_moves(turn) : add(turn);
    for (const auto& [key, cycles] : cycles_) {
      LayerRow& row = made_.layers[key.first];
      ++row.cores;
      row.cycles = std::max(row.cycles, cycles);
    }
    for (const auto& [layer, core, buffer] : buffers_) add_bytes(core, buffer, made_.layers[layer]);
    add_network();
    for (const ChipCore& core : program_.cores) made_.memory = std::max(made_.memory, core.bytes);
    for (std::size_t i = 0; i < made_.layers.size(); ++i) {
      LayerRow& row = made_.layers[i];
      row.energy = energy_of(made_.counts.layers()[i], chip_);
      const std::int64_t could = chip_.mac.pixels * chip_.mac.outputs * row.cycles * row.cores;
      row.utilisation = could > 0 ? static_cast<double>(row.multiply_adds) / static_cast<double>(could) : 0;
    }
    made_.cores_in_chips = chip_.grid.cores.area() * program_.chips.area();
    return std::move(made_);
  }

 private:
  const ChipPhase& phase(const ChipProgram::Turn& turn) const {
    return program_.cores[static_cast<std::size_t>(turn.core)].phases[static_cast<std::size_t>(turn.phase)];
  }
  std::size_t layer(const ChipProgram::Turn& turn) const { return layer_of_.at(turn.unit); }

  void add(const ChipProgram::Turn& turn) {
    const ChipPhase& now = phase(turn);
    const auto core = static_cast<std::size_t>(turn.core);
    const std::size_t at = layer(turn);
    LayerRow& row = made_.layers[at];
    for (const std::optional<ChipCall>* call : {&now.axon, &now.soma}) {
      if (!*call) continue;
      made_.counts.add(core, at, compute_counts((*call)->block, (*call)->use, chip_));
      row.multiply_adds += multiply_adds((*call)->block);
      for (std::int32_t buffer : (*call)->in) buffers_.insert({at, core, buffer});
      buffers_.insert({at, core, (*call)->result});
    }
    for (std::int32_t number : now.sends) {
      const ChipMessage& message = program_.messages[static_cast<std::size_t>(number)];
      PerEvent sent;
      sent[EnergyEvent::out] = message.packets;
      made_.counts.add(core, at, sent);
      row.packets += message.packets;
    }
    cycles_[{at, core}] += computed_at(now, chip_.cycles.start);
  }

  // What comes for a unit, and is moved.
  void add_moves(const ChipProgram::Turn& turn) {
    const ChipPhase& now = phase(turn);
    const auto core = static_cast<std::size_t>(turn.core);
    const std::size_t at = layer(turn);
    for (std::int32_t number : now.receives) {
      PerEvent received;
      received[EnergyEvent::in] = program_.messages[static_cast<std::size_t>(number)].packets;
      made_.counts.add(core, at, received);
    }
    PerEvent moved;
    for (const ChipMove& move : now.moves)
      for (const ChipMove::Run& run : move.runs) moved[EnergyEvent::rd] += run.bytes;
    moved[EnergyEvent::wr] = moved[EnergyEvent::rd];
    made_.counts.add(core, at, moved);
    cycles_[{at, core}] += now.move_cycles;
  }

  void add_bytes(std::size_t core, std::int32_t buffer, LayerRow& row) const {
    if (buffer != no_buffer) row.bytes += program_.cores[core].buffers[static_cast<std::size_t>(buffer)].bytes;
  }

  // Hops of all frames that the clock saw, for one of them.
  void add_network() {
    const std::int64_t frames = std::max<std::int64_t>(1, timing_.frames);
    PerEvent hops;
    hops[EnergyEvent::hop_x] = timing_.traffic.hops_x / frames;
    hops[EnergyEvent::hop_y] = timing_.traffic.hops_y / frames;
    hops[EnergyEvent::chip] = timing_.traffic.crossings / frames;
    if (!program_.cores.empty()) made_.counts.add(0, EnergyCounts::no_layer, hops);
    for (const ChipMessage& message : program_.messages) made_.packets += message.packets;
    for (const CoreTime& core : timing_.cores) made_.busy_clk += core.busy / frames;
  }

  const ChipProgram& program_;
  const ChipTiming& timing_;
  const Chip& chip_;
  ChipAccount made_;
  std::map<BlockId, std::size_t> layer_of_;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> cycles_;    // by layer and core, of a step
  std::set<std::tuple<std::size_t, std::size_t, std::int32_t>> buffers_;  // layer, core, buffer
};

}  // namespace

ChipAccount account_of(const ChipProgram& program, const ChipTiming& timing) {
  return Accountant(program, timing).account();
}

PerEvent counts_of(const ChipAccount& account, std::int64_t steps, std::int64_t cycles) {
  PerEvent counts = account.counts.total() * steps;
  counts +=
      clock_counts(account.cores_in_chips, std::min(account.busy_clk * steps, account.cores_in_chips * cycles), cycles);
  return counts;
}

std::string layers_text(const ChipProgram& program, const ChipTiming& timing, const ChipAccount& account) {
  std::string text = fmt::format("{:<20} {:>5} {:>6} {:>10} {:>6} {:>10} {:>9} {:>14}\n", "layer", "cores", "phase",
                                 "cycles", "MAC %", "bytes", "packets", "pJ");
  for (const LayerRow& row : account.layers)
    text += fmt::format("{:<20} {:>5} {:>6} {:>10} {:>6.1f} {:>10} {:>9} {:>14}\n", row.name, row.cores, row.phase,
                        row.cycles, 100 * row.utilisation, row.bytes, row.packets,
                        static_cast<double>(row.energy) / energy_units_per_pj);
  text += fmt::format("{} of {} cores, fullest {} B; latency {} clk, interval {} clk, {} packets a step\n",
                      program.cores.size(), program.cores_there, account.memory, timing.latency, timing.interval,
                      account.packets);
  return text;
}

}  // namespace taskspec
