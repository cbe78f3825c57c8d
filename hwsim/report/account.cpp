#include "hwsim/report/account.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "hwsim/map/chains.hpp"
#include "hwsim/report/link_counts.hpp"

namespace taskspec {

namespace {

class Accountant {
 public:
  Accountant(const ChipProgram& program, const ChipTiming& timing)
      : program_(program), timing_(timing), chip_(*program.chip), links_(*program.chip, program.chips) {
    for (const ChipProgram::Turn& turn : program.order) {
      if (turn.core == host_core || turn.moves) continue;
      if (layer_of_.try_emplace(turn.unit, layer_of_.size()).second) {
        LayerRow row;
        row.name = (*program.net.graph)[turn.unit].name;
        row.phase = turn.phase;
        row.group = phase(turn).group;
        made_.layers.push_back(std::move(row));
      }
    }
    made_.counts = EnergyCounts(program.cores.size(), made_.layers.size());
    for (const ChipCore& core : program.cores) begin(core);
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
    for (const ChipMessage& message : program_.messages) made_.packets += message.packets;
    for (const ChipWay& way : ways_of(program_)) add_way(way);
    for (std::size_t c = 0; c < made_.cores.size(); ++c) {
      made_.memory = std::max(made_.memory, made_.cores[c].bytes);
      made_.busy_clk += made_.cores[c].busy;
    }
    for (std::size_t i = 0; i < made_.layers.size(); ++i) {
      LayerRow& row = made_.layers[i];
      row.energy = energy_of(made_.counts.layers()[i], chip_);
      const std::int64_t could = chip_.mac.pixels * chip_.mac.outputs * row.cycles * row.cores;
      row.utilisation = could > 0 ? static_cast<double>(row.multiply_adds) / static_cast<double>(could) : 0;
    }
    made_.links = links_.rows();
    made_.hosts = links_.hosts();
    made_.cores_in_chips = chip_.grid.cores.area() * program_.chips.area();
    return std::move(made_);
  }

 private:
  const ChipPhase& phase(const ChipProgram::Turn& turn) const {
    return program_.cores[static_cast<std::size_t>(turn.core)].phases[static_cast<std::size_t>(turn.phase)];
  }
  std::size_t layer(const ChipPhase& phase) const {  // named by the axon
    return layer_of_.at(phase.axon ? phase.axon->whole : phase.soma->whole);
  }
  std::size_t layer(const ChipProgram::Turn& turn) const { return layer_of_.at(turn.unit); }

  void begin(const ChipCore& core) {
    CoreRow row;
    row.core = core.core;
    row.bytes = core.bytes;
    row.group = core.phases.empty() ? 0 : core.phases[0].group;
    for (const ChipPhase& phase : core.phases)
      row.layers.push_back(phase.axon || phase.soma ? static_cast<std::int32_t>(layer(phase)) : -1);
    for (const ChipBuffer& buffer : core.buffers) row.bytes_by[static_cast<std::size_t>(buffer.use)] += buffer.bytes;
    // Steps of its own: it may be ahead of what came out.
    if (const std::size_t at = made_.cores.size(); at < timing_.cores.size() && timing_.cores[at].steps > 0)
      row.busy = timing_.cores[at].busy / timing_.cores[at].steps;
    else  // outputs settled before its first step ended
      for (const ChipPhase& phase : core.phases)
        row.busy += (phase.axon ? phase.axon->cycles : 0) + (phase.soma ? phase.soma->cycles : 0) + phase.move_cycles;
    made_.cores.push_back(std::move(row));
  }

  void add(const ChipProgram::Turn& turn) {
    const ChipPhase& now = phase(turn);
    const auto core = static_cast<std::size_t>(turn.core);
    const std::size_t at = layer(turn);
    LayerRow& row = made_.layers[at];
    for (const std::optional<ChipCall>* call : {&now.axon, &now.soma}) {
      if (!*call) continue;
      made_.counts.add(core, at, compute_counts((*call)->block, (*call)->use, chip_));
      const std::int64_t products = multiply_adds((*call)->block);
      row.multiply_adds += products;
      made_.cores[core].multiply_adds += products;
      if (const PortBytes port = port_bytes((*call)->block, (*call)->use, chip_.cycles); products > 0)
        row.axon_bytes += port.read + port.written;
      for (const std::int32_t buffer : (*call)->in) buffers_.insert({at, core, buffer});
      buffers_.insert({at, core, (*call)->result});
      buffers_.insert({at, core, (*call)->memory});
    }
    for (std::int32_t number : now.sends) {
      const ChipMessage& message = program_.messages[static_cast<std::size_t>(number)];
      PerEvent sent;
      sent[EnergyEvent::out] = message.packets;
      made_.counts.add(core, at, sent);
      row.packets += message.packets;
      made_.cores[core].packets += message.packets;
    }
    cycles_[{at, core}] += computed_at(now, chip_.cycles.start);
  }

  // What comes for a unit, and is moved.
  void add_moves(const ChipProgram::Turn& turn) {
    const ChipPhase& now = phase(turn);
    const auto core = static_cast<std::size_t>(turn.core);
    const std::size_t at = layer(turn);
    for (std::int32_t number : now.receives) {
      reader_[number] = at;
      PerEvent received;
      received[EnergyEvent::in] = program_.messages[static_cast<std::size_t>(number)].packets;
      made_.counts.add(core, at, received);
    }
    PerEvent moved;
    for (const ChipMove& move : now.moves) {
      for (const ChipMove::Run& run : move.runs) moved[EnergyEvent::rd] += run.bytes;
      buffers_.insert({at, core, move.from});
      buffers_.insert({at, core, move.to});
    }
    moved[EnergyEvent::wr] = moved[EnergyEvent::rd];
    made_.counts.add(core, at, moved);
    cycles_[{at, core}] += now.move_cycles;
  }

  void add_bytes(std::size_t core, std::int32_t number, LayerRow& row) const {
    if (number == no_buffer) return;
    const ChipBuffer& buffer = program_.cores[core].buffers[static_cast<std::size_t>(number)];
    row.bytes += buffer.bytes;
    row.bytes_by[static_cast<std::size_t>(buffer.use)] += buffer.bytes;
  }

  // Links are charged to who sends, or sends on; of packets from the host, to who gets them. So are relays, which take
  // packets in and out again.
  void add_way(const ChipWay& way) {
    const ChipMessage& first = program_.messages[static_cast<std::size_t>(way.message)];
    std::size_t at_layer = EnergyCounts::no_layer;
    if (first.from_core != host_core) {
      const ChipPhase& phase = program_.cores[static_cast<std::size_t>(first.from_core)]
                                   .phases[static_cast<std::size_t>(std::max(0, first.from_phase))];
      if (phase.axon || phase.soma) at_layer = layer(phase);
    }
    std::int32_t sender = first.from_core, before = ChipMessage::no_message;
    int at = way.source;
    for (std::size_t i = 0; i < way.legs.size(); ++i) {
      const ChipWay::Leg& leg = way.legs[i];
      const auto payer = static_cast<std::size_t>(sender != host_core ? sender : first_target(way));
      PerEvent events = links_.add(links_.routes().endpoint(at), links_.routes().endpoint(leg.place), first.packets);
      if (leg.message == ChipMessage::no_message) events[EnergyEvent::in] += first.packets;
      if (leg.message != way.message) events[EnergyEvent::out] += first.packets;  // once more
      // What the host sent is sent on for the layer that reads it here.
      const auto read = reader_.find(before);
      const std::size_t layer = first.from_core == host_core && read != reader_.end() ? read->second : at_layer;
      made_.counts.add(payer, layer, events);
      at = leg.place;
      if (leg.message == ChipMessage::no_message) continue;
      if (leg.message != way.message) {
        made_.cores[payer].packets += first.packets;
        if (layer != EnergyCounts::no_layer) made_.layers[layer].packets += first.packets;
      }
      before = leg.message;
      sender = program_.messages[static_cast<std::size_t>(leg.message)].to_core;
    }
  }

  std::int32_t first_target(const ChipWay& way) const {
    return program_.messages[static_cast<std::size_t>(way.message)].to_core;
  }

  const ChipProgram& program_;
  const ChipTiming& timing_;
  const Chip& chip_;
  LinkCounts links_;
  ChipAccount made_;
  std::map<BlockId, std::size_t> layer_of_;
  std::map<std::int32_t, std::size_t> reader_;                            // by message: the layer that reads it
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> cycles_;    // by layer and core, of a step
  std::set<std::tuple<std::size_t, std::size_t, std::int32_t>> buffers_;  // layer, core, buffer
};

}  // namespace

ChipAccount account_of(const ChipProgram& program, const ChipTiming& timing) {
  return Accountant(program, timing).account();
}

PerEvent counts_of(const ChipAccount& account, std::int64_t steps, std::int64_t cycles) {
  PerEvent counts = account.counts.total() * (steps / account.steps);
  const std::int64_t busy = account.busy_clk * (steps / account.steps), all = account.cores_in_chips * cycles;
  counts += clock_counts(account.cores_in_chips, std::min(busy, all), cycles);
  return counts;
}

}  // namespace taskspec
