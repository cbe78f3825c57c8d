// Clock, memory, arithmetic and limits of a core.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hwsim/chip/parts.hpp"

namespace taskspec::chip_parts {

namespace {

constexpr double most_clk = 1e9;  // of anything that takes time: products of a few stay within 64 bits
constexpr double most_seconds = 1000;
constexpr double most_bytes = 1e9;

// Whole ticks, or a fault.
std::int64_t ticks(ChipReading& reading, const std::string& pointer, double seconds, std::int64_t hz) {
  if (std::isnan(seconds)) return 0;
  const double exact = seconds * static_cast<double>(hz), whole = std::round(exact);
  if (std::abs(exact - whole) > 1e-6 * std::max(1.0, whole) || whole > most_clk) {
    reading.fault(pointer, fmt::format("expected a whole number of ticks of 1/{} s, at most {}, found {:.10g}", hz,
                                       most_clk, exact));
    return 0;
  }
  return static_cast<std::int64_t>(whole);
}

void read_barrier(ChipFields& fields, Chip& chip) {
  const Json* entries = fields.find("barrier");
  if (!entries) return;
  ChipReading& reading = fields.reading();
  const std::string pointer = fields.pointer("barrier"), wanted = "a list of [tiles, seconds] with ascending tiles";
  if (!entries->is_array() || entries->empty()) return reading.expected(pointer, wanted, *entries);
  for (std::size_t i = 0; i < entries->size() && !reading.is_full(); ++i) {
    const Json& entry = (*entries)[i];
    const std::string at = fmt::format("{}/{}", pointer, i);
    if (!entry.is_array() || entry.size() != 2) {
      reading.expected(at, "[tiles, seconds]", entry);
      continue;
    }
    const double tiles = reading.number(entry[0], at + "/0", {"1", 1, most_clk}, true);
    const double seconds = reading.number(entry[1], at + "/1", {"s", 0, most_seconds, false}, true);
    if (std::isnan(tiles) || std::isnan(seconds)) continue;
    if (!chip.sync.barrier.empty() && tiles <= static_cast<double>(chip.sync.barrier.back().first))
      reading.fault(at + "/0", "expected more tiles than in the entry before");
    chip.sync.barrier.emplace_back(static_cast<std::int64_t>(tiles), ticks(reading, at + "/1", seconds, chip.hz));
  }
}

constexpr const char *primitive_kind = "kind 'primitive'", *spiking_kinds = "kinds 'crossbar' and 'synaptic'";
std::string of_kinds(const char* which) { return fmt::format("belongs to chips of {} alone", which); }

void read_sync(ChipFields fields, Chip& chip) {
  ChipSync& sync = chip.sync;
  constexpr WantedNumber clk{"clk", 0, most_clk};
  sync.mode = fields.word<SyncMode>("mode", {"adaptive", "fixed", "tick"});
  const auto only_for = [](const char* mode) { return fmt::format("belongs to the mode '{}' alone", mode); };
  if (sync.mode == SyncMode::fixed)
    sync.phase_clk = fields.plain("phase_clk", {"clk", 1, most_clk});
  else
    fields.refuse("phase_clk", only_for("fixed"));
  if (sync.mode == SyncMode::adaptive)
    sync.phase_clk_overhead = fields.plain("phase_clk_overhead", clk);
  else
    fields.refuse("phase_clk_overhead", only_for("adaptive"));
  if (sync.mode == SyncMode::tick) {
    if (const Json* tick = fields.need("tick_s")) {
      const std::string pointer = fields.pointer("tick_s");
      const double seconds = fields.reading().number(*tick, pointer, {"s", 0, most_seconds, false}, true);
      sync.tick_clk = ticks(fields.reading(), pointer, seconds, chip.hz);
    }
  } else {
    fields.refuse("tick_s", only_for("tick"));
  }
  if (chip.kind == ChipKind::primitive) {
    if (sync.mode == SyncMode::tick)
      fields.reading().fault(fields.pointer("mode"),
                             "expected \"adaptive\" or \"fixed\": cores of kind 'primitive' "
                             "work in phases");
    fields.refuse("barrier", of_kinds(spiking_kinds));
  } else if (sync.phase_clk_overhead != 0) {
    fields.reading().fault(fields.pointer("phase_clk_overhead"), "expected 0: it " + of_kinds(primitive_kind));
  }
  read_barrier(fields, chip);
  fields.finish();
}

constexpr WantedNumber bank_base{"B", 0, most_bytes};

ChipBank read_bank(ChipFields fields) {
  ChipBank bank;
  bank.name = fields.text("name");
  bank.base = fields.plain("base", bank_base);
  bank.bytes = fields.figure("bytes", {"B", 1, most_bytes});
  std::vector<std::string> names;
  for (std::size_t role = 0; role < bank_roles; ++role) names.emplace_back(name_of(static_cast<BankRole>(role)));
  if (const Json* roles = fields.need("roles")) {
    if (!roles->is_array() || roles->empty() || roles->size() > bank_roles)
      fields.reading().expected(fields.pointer("roles"), "a list of roles", *roles);
    else
      for (std::size_t i = 0; i < roles->size(); ++i) {
        const int role = fields.reading().word((*roles)[i], fmt::format("{}/{}", fields.pointer("roles"), i), names);
        if (role >= 0) bank.roles = static_cast<std::uint16_t>(bank.roles | 1 << role);
      }
  }
  fields.finish();
  return bank;
}

void read_pairs(ChipFields& fields, ChipMac& mac) {
  const Json* pairs = fields.need("pairs");
  if (!pairs) return;
  ChipReading& reading = fields.reading();
  const std::string pointer = fields.pointer("pairs");
  const std::vector<std::string> names{"i8", "u8", "tern"};
  if (!pairs->is_array() || pairs->empty() || pairs->size() > names.size() * names.size())
    return reading.expected(pointer, "a list of [activation, weight] precisions", *pairs);
  for (std::size_t i = 0; i < pairs->size(); ++i) {
    const Json& pair = (*pairs)[i];
    const std::string at = fmt::format("{}/{}", pointer, i);
    if (!pair.is_array() || pair.size() != 2) {
      reading.expected(at, "[activation, weight]", pair);
      continue;
    }
    const int activation = reading.word(pair[0], at + "/0", names), weight = reading.word(pair[1], at + "/1", names);
    if (activation < 0 || weight < 0) continue;
    mac.pairs.emplace_back(*precision_of(names[static_cast<std::size_t>(activation)]),
                           *precision_of(names[static_cast<std::size_t>(weight)]));
  }
}

}  // namespace

void read_clock(ChipFields& root, Chip& chip) {
  ChipFields clock = root.fields("clock");
  chip.hz = clock.figure("hz", {"Hz", 1, 1e12});
  clock.finish();
  read_sync(root.fields("sync"), chip);
}

void read_neuron(ChipFields& root, Chip& chip) {
  chip.neuron = chip.kind == ChipKind::synaptic ? NeuronModel::loihi : NeuronModel::clif;
  if (root.find("neuron")) chip.neuron = root.word<NeuronModel>("neuron", {"clif", "loihi", "truenorth"});
}

void read_memory(ChipFields& root, Chip& chip) {
  const Json* banks = root.need("memory");
  if (!banks) return;
  ChipReading& reading = root.reading();
  if (!banks->is_array() || banks->empty() || banks->size() > 64)
    return reading.expected("/memory", "a list of banks", *banks);
  for (std::size_t i = 0; i < banks->size(); ++i) {
    const std::string at = fmt::format("/memory/{}", i);
    ChipBank bank = read_bank(ChipFields(reading, &(*banks)[i], at));
    if (std::ranges::find(chip.banks, bank.name, &ChipBank::name) != chip.banks.end())
      reading.fault(at + "/name", fmt::format("expected a name of its own, found a second '{}'", bank.name));
    if (!chip.banks.empty() && bank.base < chip.banks.back().end())
      reading.fault(at + "/base", fmt::format("expected an address from {} on, where the bank before ends, found {}",
                                              chip.banks.back().end(), bank.base));
    chip.banks.push_back(std::move(bank));
  }
}

void read_compute(ChipFields& root, Chip& chip) {
  if (chip.kind != ChipKind::primitive) {
    root.refuse("mac", of_kinds(primitive_kind));
    root.refuse("rules", of_kinds(primitive_kind));
    return;
  }
  ChipFields mac = root.fields("mac");
  constexpr WantedNumber side{"1", 1, 4096};
  chip.mac.pixels = mac.plain("pixels", side);
  chip.mac.outputs = mac.plain("outputs", side);
  read_pairs(mac, chip.mac);
  mac.word<int>("acc", {"i32"});
  chip.mac.cut_unit_bits = mac.plain("cut_unit_bits", {"bit", 1, 8});
  mac.finish();
  ChipFields rules = root.fields("rules");
  constexpr WantedNumber port{"B/clk", 1, 4096};
  chip.cycles.start = rules.figure("start", {"clk", 0, most_clk});
  chip.cycles.bias_bytes_per_clk = rules.figure("bias_bytes_per_clk", port);
  chip.cycles.axon_bytes_per_clk = rules.figure("axon_bytes_per_clk", port);
  chip.cycles.soma_bytes_per_clk = rules.figure("soma_bytes_per_clk", port);
  chip.cycles.first_lines = rules.figure("first_lines", {"1", 0, 4096});
  chip.cycles.pixels = chip.mac.pixels;
  chip.cycles.outputs = chip.mac.outputs;
  rules.finish();
}

void read_limits(ChipFields fields, Chip& chip) {
  struct Limit {
    std::string_view name;
    std::optional<std::int64_t> ChipLimits::*member;
    WantedNumber wanted;
    const char* kinds = nullptr;  // that have it; null: all
  };
  constexpr double most = 1e12;
  constexpr WantedNumber count{"1", 1, most}, bits{"bit", 1, most}, narrow{"bit", 1, 32}, bytes{"B", 1, most_bytes};
  const Limit limits[] = {
      {"phases", &ChipLimits::phases, count, primitive_kind},
      {"phase_groups", &ChipLimits::phase_groups, count, primitive_kind},
      {"step_groups", &ChipLimits::step_groups, count, primitive_kind},
      {"receive_bytes", &ChipLimits::receive_bytes, bytes, primitive_kind},
      {"head_packets", &ChipLimits::head_packets, count, primitive_kind},
      {"offset_min", &ChipLimits::offset_min, {"1", -most, 0}, primitive_kind},
      {"offset_max", &ChipLimits::offset_max, {"1", 0, most}, primitive_kind},
      {"fan_in", &ChipLimits::fan_in, count, spiking_kinds},
      {"fan_out", &ChipLimits::fan_out, count, spiking_kinds},
      {"neurons", &ChipLimits::neurons, count, spiking_kinds},
      {"synapse_bits", &ChipLimits::synapse_bits, bits, spiking_kinds},
      {"weight_bits", &ChipLimits::weight_bits, narrow, spiking_kinds},
      {"state_bits", &ChipLimits::state_bits, narrow},
      {"delay_max", &ChipLimits::delay_max, {"1", 0, 65535}, spiking_kinds},
      {"axon_types", &ChipLimits::axon_types, count, spiking_kinds},
      {"soft_phases", &ChipLimits::soft_phases, count, primitive_kind},
      {"soft_bytes", &ChipLimits::soft_bytes, bytes, primitive_kind},
  };
  const char* const kind = chip.kind == ChipKind::primitive ? primitive_kind : spiking_kinds;
  for (const Limit& limit : limits)
    if (limit.kinds == nullptr || limit.kinds == kind)
      chip.limits.*limit.member = fields.optional_figure(limit.name, limit.wanted);
    else
      fields.refuse(limit.name, of_kinds(limit.kinds));
  fields.finish();
}

}  // namespace taskspec::chip_parts
