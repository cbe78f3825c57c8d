#include "interp/hw/hw_report.hpp"

#include <algorithm>

#include "hwsim/report/chip_files.hpp"
#include "hwsim/report/chip_text.hpp"
#include "interp/control/objects.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

constexpr std::int64_t unit = energy_units_per_pj;
double pj(std::int64_t energy) { return static_cast<double>(energy) / static_cast<double>(unit); }

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
  for (const EnergyPart& part : energy_parts()) {
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

}  // namespace

Value energy_value(std::int64_t energy) { return Value(pj(energy)); }

Value core_value(std::int64_t core, std::int64_t bytes, std::int64_t busy, std::int64_t energy) {
  return record_of(
      {{"core", Value(core)}, {"bytes", Value(bytes)}, {"busy", Value(busy)}, {"energy", Value(pj(energy))}});
}

std::string assumed_text(const Chip& chip) {
  const std::vector<const ChipFigure*> assumed = chip.assumed();
  std::string text = assumed.empty() ? "" : "assumed:";
  for (const ChipFigure* figure : assumed) text += " " + figure->pointer.substr(1);
  return text;
}

Value energy_by(const PerEvent& counts, const Chip& chip) {
  std::vector<std::pair<std::string, Value>> values;
  for (const EnergyPart& part : energy_parts())
    values.emplace_back(part.name, Value(pj(energy_of(counts, part, chip))));
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
    for (std::size_t c = 0; c < account.cores.size(); ++c)
      cores.push_back(core_value(account.cores[c].core, account.cores[c].bytes, account.cores[c].busy,
                                 energy_of(account.counts.cores()[c], chip)));
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

std::string hw_report_text(const HwPrograms& programs) {
  std::string text;
  for (const std::shared_ptr<HwProgram>& program : programs)
    text += (text.empty() ? "" : "\n\n") + chip_text(*program->picture());
  return text;
}

namespace {

class HwPicture final : public RunPicture {
 public:
  explicit HwPicture(ChipPicture picture) : picture_(std::move(picture)) {}
  std::string text() const override { return picture_.title + "\n" + chip_text(picture_) + "\n"; }
  std::string json(bool whole) const override { return chip_json(picture_, whole); }
  std::string csv_head() const override { return chip_csv_head(); }
  std::string csv() const override { return chip_csv(picture_); }
  std::string trace(int process) const override { return chip_trace(picture_, process); }

 private:
  const ChipPicture picture_;
};

}  // namespace

RunPictures hw_pictures(const ChipRuns& runs) {
  RunPictures pictures;
  for (const std::shared_ptr<ChipRun>& run : runs)
    if (std::optional<ChipPicture> picture = run->picture())
      pictures.push_back(std::make_shared<HwPicture>(*std::move(picture)));
  return pictures;
}

}  // namespace taskspec
