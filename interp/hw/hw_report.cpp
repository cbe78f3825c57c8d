#include "interp/hw/hw_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/objects.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

constexpr std::int64_t unit = energy_units_per_pj;
double pj(std::int64_t energy) { return static_cast<double>(energy) / static_cast<double>(unit); }

// Events by what they are about.
struct EnergyPart {
  std::string_view name;
  std::initializer_list<EnergyEvent> events;
};
const EnergyPart parts[] = {
    {"mac", {EnergyEvent::mac_i8, EnergyEvent::mac_tern}},
    {"alu", {EnergyEvent::alu}},
    {"memory", {EnergyEvent::rd, EnergyEvent::wr}},
    {"packets", {EnergyEvent::out, EnergyEvent::in, EnergyEvent::msg}},
    {"hops", {EnergyEvent::hop_x, EnergyEvent::hop_y, EnergyEvent::chip}},
    {"clock", {EnergyEvent::core_clk, EnergyEvent::idle_clk}},
    {"spikes",
     {EnergyEvent::syn_dense, EnergyEvent::syn_sparse, EnergyEvent::syn_conv, EnergyEvent::access, EnergyEvent::update,
      EnergyEvent::spike}},
};

Type record_type(std::initializer_list<std::pair<std::string_view, Kind>> fields) {
  Type record(Kind::record);
  for (const auto& [name, kind] : fields) {
    record.names.emplace_back(name);
    record.parts.emplace_back(kind);
  }
  return record;
}

Type energy_type() {
  Type record(Kind::record);
  for (const EnergyPart& part : parts) {
    record.names.emplace_back(part.name);
    record.parts.emplace_back(Kind::real);
  }
  return record;
}
Type layers_type() {
  return Type::list(record_type({{"name", Kind::string},
                                 {"cores", Kind::integer},
                                 {"phase", Kind::integer},
                                 {"cycles", Kind::integer},
                                 {"utilisation", Kind::real},
                                 {"bytes", Kind::integer},
                                 {"packets", Kind::integer},
                                 {"energy", Kind::real}}));
}
Type cores_type() {
  return Type::list(record_type(
      {{"core", Kind::integer}, {"bytes", Kind::integer}, {"busy", Kind::integer}, {"energy", Kind::real}}));
}

constexpr ReportField fields[] = {
    {"cycles", Kind::integer, "ticks of the chip, all steps one behind the other"},
    {"time", Kind::real, "simulated seconds"},
    {"energy", Kind::real, "pJ, idle cores included"},
    {"energy_by", Kind::record, "pJ by what they are for", false, energy_type},
    {"memory", Kind::integer, "bytes of the fullest core"},
    {"packets", Kind::integer, "sent, of all steps"},
    {"layers", Kind::list, "per step: a record for each axon with its soma", false, layers_type},
    {"cores", Kind::list, "per step: a record for each core in use", false, cores_type}};

Value record_of(std::vector<std::pair<std::string, Value>> values) {
  auto record = std::make_shared<Record>();
  record->fields = std::move(values);
  return Value(std::static_pointer_cast<Object>(std::move(record)));
}

PerEvent all_counts(const HwPrograms& programs) {
  PerEvent counts;
  for (const std::shared_ptr<HwProgram>& program : programs)
    counts += counts_of(program->account(), program->version(), program->cycles());
  return counts;
}

Value energy_by(const PerEvent& counts, const Chip& chip) {
  std::vector<std::pair<std::string, Value>> values;
  for (const EnergyPart& part : parts) {
    PerEvent of_part;
    for (const EnergyEvent event : part.events) of_part[event] = counts[event];
    values.emplace_back(part.name, Value(pj(energy_of(of_part, chip))));
  }
  return record_of(std::move(values));
}

Value layer_value(const LayerRow& row) {
  return record_of({{"name", Value(row.name)},
                    {"cores", Value(row.cores)},
                    {"phase", Value(row.phase)},
                    {"cycles", Value(row.cycles)},
                    {"utilisation", Value(row.utilisation)},
                    {"bytes", Value(row.bytes)},
                    {"packets", Value(row.packets)},
                    {"energy", Value(pj(row.energy))}});
}

}  // namespace

constinit const std::span<const ReportField> hw_report_fields = fields;

std::vector<Value> hw_report_values(const HwPrograms& programs, const Chip& chip) {
  std::int64_t cycles = 0, memory = 0, packets = 0;
  List layers, cores;
  for (const std::shared_ptr<HwProgram>& program : programs) {
    const ChipAccount& account = program->account();
    cycles += program->cycles();
    memory = std::max(memory, account.memory);
    packets += account.packets * program->version();
    for (const LayerRow& row : account.layers) layers.push_back(layer_value(row));
    const std::vector<ChipCore>& used = program->program().cores;
    const std::int64_t frames = std::max<std::int64_t>(1, program->timing().frames);
    for (std::size_t c = 0; c < used.size(); ++c)
      cores.push_back(record_of({{"core", Value(std::int64_t{used[c].core})},
                                 {"bytes", Value(used[c].bytes)},
                                 {"busy", Value(program->timing().cores[c].busy / frames)},
                                 {"energy", Value(pj(energy_of(account.counts.cores()[c], chip)))}}));
  }
  const PerEvent counts = all_counts(programs);
  return {Value(cycles),
          Value(static_cast<double>(cycles) / static_cast<double>(chip.hz)),
          Value(pj(energy_of(counts, chip))),
          energy_by(counts, chip),
          Value(memory),
          Value(packets),
          Value(std::move(layers)),
          Value(std::move(cores))};
}

std::string hw_report_text(const HwPrograms& programs, const Chip& chip) {
  std::string text;
  std::int64_t cycles = 0, steps = 0;
  for (const std::shared_ptr<HwProgram>& program : programs) {
    text += layers_text(program->program(), program->timing(), program->account());
    for (const std::string& note : program->program().notes) text += note + "\n";
    cycles += program->cycles();
    steps += program->version();
  }
  const double seconds = static_cast<double>(cycles) / static_cast<double>(chip.hz);
  text += fmt::format("{}: {} steps, {} clk, {:.6g} s, {}\n", chip.name, steps, cycles, seconds,
                      energy_pj(energy_of(all_counts(programs), chip)));
  const std::vector<const ChipFigure*> assumed = chip.assumed();
  if (!assumed.empty()) {
    text += "assumed:";
    for (const ChipFigure* figure : assumed) text += " " + figure->pointer.substr(1);
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace taskspec
