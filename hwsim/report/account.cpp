#include "hwsim/report/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hwsim/map/chains.hpp"

namespace taskspec {

namespace {

// Of a call: the work whose unit it belongs to, named by the axon.
const ChipCall& first_of(const ChipPhase& phase) { return phase.axon ? *phase.axon : *phase.soma; }

class Accountant {
 public:
  Accountant(const ChipProgram& program, const ChipTiming& timing)
      : program_(program), timing_(timing), chip_(*program.chip) {
    for (const ChipProgram::Turn& turn : program.order) {
      const BlockId block = first_of(phase(turn)).whole;
      if (layer_of_.try_emplace(block, layer_of_.size()).second) {
        LayerRow row;
        row.name = (*program.net.graph)[block].name;
        row.phase = turn.phase;
        made_.layers.push_back(std::move(row));
      }
    }
    made_.counts = EnergyCounts(program.cores.size(), made_.layers.size());
    sent_on_.assign(program.messages.size(), ChipMessage::no_message);
    for (std::size_t m = 0; m < program.messages.size(); ++m)
      if (const std::int32_t before = program.messages[m].behind; before != ChipMessage::no_message)
        sent_on_[static_cast<std::size_t>(before)] = static_cast<std::int32_t>(m);
  }

  ChipAccount account() {
    for (const ChipProgram::Turn& turn : program_.order) add(turn);
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
  std::size_t layer(const ChipProgram::Turn& turn) const { return layer_of_.at(first_of(phase(turn)).whole); }

  void add(const ChipProgram::Turn& turn) {
    const ChipPhase& now = phase(turn);
    const auto core = static_cast<std::size_t>(turn.core);
    const std::size_t at = layer(turn);
    LayerRow& row = made_.layers[at];
    ++row.cores;
    std::int64_t cycles = 0;
    for (const std::optional<ChipCall>* call : {&now.axon, &now.soma}) {
      if (!*call) continue;
      made_.counts.add(core, at, compute_counts((*call)->block, (*call)->use, chip_));
      row.multiply_adds += multiply_adds((*call)->block);
      cycles += (*call)->cycles;
      for (std::int32_t buffer : (*call)->in) add_bytes(core, buffer, row);
      add_bytes(core, (*call)->result, row);
    }
    for (std::int32_t number : now.sends) {
      const ChipMessage& message = program_.messages[static_cast<std::size_t>(number)];
      PerEvent sent;
      sent[EnergyEvent::out] = message.packets;
      made_.counts.add(core, at, sent);
      row.packets += message.packets;
      for (std::int32_t next = sent_on_[static_cast<std::size_t>(number)]; next != ChipMessage::no_message;
           next = sent_on_[static_cast<std::size_t>(next)]) {
        made_.counts.add(sender(next), at, sent);
        row.packets += message.packets;
      }
    }
    const std::vector<ChipPhase>& phases = program_.cores[core].phases;
    const ChipPhase& before = phases[(static_cast<std::size_t>(turn.phase) + phases.size() - 1) % phases.size()];
    for (std::int32_t number : before.receives) {
      PerEvent received;
      received[EnergyEvent::in] = program_.messages[static_cast<std::size_t>(number)].packets;
      made_.counts.add(core, at, received);
    }
    PerEvent moved;
    for (const ChipMove& move : before.moves)
      for (const ChipMove::Run& run : move.runs) moved[EnergyEvent::rd] += run.bytes;
    moved[EnergyEvent::wr] = moved[EnergyEvent::rd];
    made_.counts.add(core, at, moved);
    row.cycles = std::max(row.cycles, cycles + before.move_cycles);
  }

  void add_bytes(std::size_t core, std::int32_t buffer, LayerRow& row) const {
    if (buffer != no_buffer) row.bytes += program_.cores[core].buffers[static_cast<std::size_t>(buffer)].bytes;
  }

  // Hops of a step, and what cores send on that is not theirs: copies of packets of the host, and relays, which take
  // packets in and out again.
  void add_network() {
    const std::int64_t frames = std::max<std::int64_t>(1, timing_.frames);
    const NocTraffic traffic = traffic_of(program_);
    PerEvent hops;
    hops[EnergyEvent::hop_x] = traffic.hops_x;
    hops[EnergyEvent::hop_y] = traffic.hops_y;
    hops[EnergyEvent::chip] = traffic.crossings;
    for (std::size_t m = 0; m < program_.messages.size(); ++m) {
      const ChipMessage& message = program_.messages[m];
      const auto relayed = static_cast<std::int64_t>(message.relays.size()) * message.packets;
      hops[EnergyEvent::in] += relayed;
      hops[EnergyEvent::out] += relayed;
      if (message.from_core == host_core && message.behind != ChipMessage::no_message)
        hops[EnergyEvent::out] += message.packets;
      made_.packets += message.packets;
    }
    if (!program_.cores.empty()) made_.counts.add(0, EnergyCounts::no_layer, hops);
    for (const CoreTime& core : timing_.cores) made_.busy_clk += core.busy / frames;
  }

  // Of a message that stands behind another one of a multicast: who sends it on.
  std::size_t sender(std::int32_t number) const {
    const std::int32_t before = program_.messages[static_cast<std::size_t>(number)].behind;
    return static_cast<std::size_t>(program_.messages[static_cast<std::size_t>(before)].to_core);
  }

  const ChipProgram& program_;
  const ChipTiming& timing_;
  const Chip& chip_;
  ChipAccount made_;
  std::map<BlockId, std::size_t> layer_of_;
  std::vector<std::int32_t> sent_on_;  // by message: the next one of its multicast
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
