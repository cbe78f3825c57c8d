#include "hwsim/report/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

// Of one phase of one core: its longest stage.
void look_at(const ChipProgram& program, std::int32_t number, std::int32_t k, StepLimit& limit) {
  const ChipCore& core = program.cores[static_cast<std::size_t>(number)];
  const ChipPhase& phase = core.phases[static_cast<std::size_t>(k)];
  std::int64_t packets = 0;
  for (const std::int32_t message : phase.sends) {
    const ChipMessage& sent = program.messages[static_cast<std::size_t>(message)];
    packets += sent.packets + sent.heads;
  }
  const std::pair<std::string_view, std::int64_t> stages[] = {{"axon", phase.axon ? phase.axon->cycles : 0},
                                                              {"soma1", phase.soma ? phase.soma->cycles : 0},
                                                              {"router", packets * program.chip->noc.link_clk},
                                                              {"soma2", phase.move_cycles}};
  for (const auto& [name, cycles] : stages)
    if (cycles > limit.stage_cycles) {
      limit.stage = name;
      limit.stage_cycles = cycles;
      limit.core = core.core;
      limit.phase = k;
    }
}

StepLimit limit_of(const ChipProgram& program, const ChipTiming& timing, const ChipAccount& account) {
  StepLimit limit;
  const auto group = static_cast<std::size_t>(timing.limit_group);
  if (group >= timing.group_cycles.size()) return limit;
  limit.group = timing.limit_group;
  limit.cycles = timing.group_cycles[group];
  for (std::size_t c = 0; c < program.cores.size(); ++c)
    for (std::size_t k = 0; k < program.cores[c].phases.size(); ++k)
      if (program.cores[c].phases[k].group == timing.limit_group) {
        const std::int64_t before = limit.stage_cycles;
        look_at(program, static_cast<std::int32_t>(c), static_cast<std::int32_t>(k), limit);
        if (limit.stage_cycles > before) limit.layer = account.cores[c].layers[k];
      }
  const BusiestPort& port = timing.busiest_port;
  if (const std::int64_t slowest = slowest_step(program); timing.interval > 0 && port.clk > slowest)
    limit.port = port.place, limit.port_clk = port.clk, limit.step_clk = slowest;
  return limit;
}

}  // namespace

ChipPicture chip_picture(const ChipProgram& program, const ChipTiming& timing, ChipAccount account) {
  ChipPicture picture;
  picture.chip = program.chip;
  picture.chips = program.chips;
  picture.width = program.width;
  picture.cores_there = program.cores_there;
  picture.core_bytes = program.chip->memory_bytes();
  picture.frames = timing.frames;
  picture.latency = timing.latency;
  picture.interval = timing.interval;
  picture.limit = limit_of(program, timing, account);
  picture.stages = timing.stages;
  picture.notes = program.notes;
  if (timing.turn > 1)
    picture.notes.push_back(
        fmt::format("frames come in turns of {}: latency is the longest of a turn, interval the mean", timing.turn));
  if (timing.flits.sending > 0)
    picture.notes.push_back(fmt::format(
        "noc flit: of {} phases that send, {} hold a link for more than half of their time; these and {} that meet "
        "their packets went flit by flit, all others as contended",
        timing.flits.sending, timing.flits.loaded, timing.flits.beside));
  picture.account = std::move(account);
  return picture;
}

Roofline ChipPicture::roofline() const {
  Roofline roof;
  std::int64_t products = 0, bytes = 0;
  for (const LayerRow& row : account.layers) {
    products += row.multiply_adds;
    bytes += row.axon_bytes;
  }
  const std::int64_t clk = interval > 0 ? interval : latency;
  if (chip->kind != ChipKind::primitive || products == 0 || bytes == 0 || clk == 0) return roof;
  const double units = static_cast<double>(chip->mac.pixels * chip->mac.outputs),
               port = static_cast<double>(chip->cycles.axon_bytes_per_clk);
  roof.is_there = true;
  roof.intensity = static_cast<double>(products) / static_cast<double>(bytes);
  roof.ridge = units / port;
  roof.bound = std::min(units, roof.intensity * port);
  roof.reached = static_cast<double>(products) / (static_cast<double>(clk) * static_cast<double>(account.cores.size()));
  return roof;
}

Hash128 ChipPicture::hash() const {
  Hasher all;
  all.add(values).add(static_cast<std::uint64_t>(cycles));
  all.add(static_cast<std::uint64_t>(taskspec::energy_of(counts(), *chip)));
  return all.digest();
}

std::string_view name_of(NocModel model) {
  switch (model) {
    case NocModel::ideal:
      return "ideal";
    case NocModel::flit:
      return "flit";
    case NocModel::flit_all:
      return "flit-all";
    default:
      return "contended";
  }
}

const std::vector<EnergyPart>& energy_parts() {
  static const std::vector<EnergyPart> parts = {
      {"mac", {EnergyEvent::mac_i8, EnergyEvent::mac_tern}},
      {"alu", {EnergyEvent::alu}},
      {"memory", {EnergyEvent::rd, EnergyEvent::wr}},
      {"packets", {EnergyEvent::out, EnergyEvent::in, EnergyEvent::msg}},
      {"hops", {EnergyEvent::hop_x, EnergyEvent::hop_y, EnergyEvent::chip}},
      {"clock", {EnergyEvent::core_clk, EnergyEvent::idle_clk}},
      {"spikes",
       {EnergyEvent::syn_dense, EnergyEvent::syn_sparse, EnergyEvent::syn_conv, EnergyEvent::access,
        EnergyEvent::update, EnergyEvent::spike}},
  };
  return parts;
}

std::int64_t energy_of(const PerEvent& counts, const EnergyPart& part, const Chip& chip) {
  PerEvent of_part;
  for (const EnergyEvent event : part.events) of_part[event] = counts[event];
  return energy_of(of_part, chip);
}

}  // namespace taskspec
