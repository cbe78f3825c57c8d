#include "interp/hw/hw_report.hpp"

#include <algorithm>

#include "hwsim/report/chip_files.hpp"
#include "interp/control/objects.hpp"
#include "interp/hw/chip_kinds.hpp"

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

std::vector<ChipPicture> pictures_of(const ChipRuns& runs) {
  std::vector<ChipPicture> pictures;
  for (const std::shared_ptr<ChipRun>& run : runs)
    if (std::optional<ChipPicture> picture = run->picture()) pictures.push_back(*std::move(picture));
  return pictures;
}

Value energy_by(const PerEvent& counts, const Chip& chip) {
  std::vector<std::pair<std::string, Value>> values;
  for (const EnergyPart& part : energy_parts())
    values.emplace_back(part.name, Value(pj(energy_of(counts, part, chip))));
  return record_of(std::move(values));
}

Value layer_value(const LayerRow& row, std::int64_t steps) {
  return record_of({{"name", Value(row.name)},
                    {"cores", Value(row.cores)},
                    {"phase", Value(row.phase)},
                    {"cycles", Value(row.cycles / steps)},
                    {"utilisation", Value(row.utilisation)},
                    {"bytes", Value(row.bytes)},
                    {"packets", Value(row.packets / steps)},
                    {"energy", Value(pj(row.energy / steps))}});
}

Value core_value(const CoreRow& row, std::int64_t energy, std::int64_t steps) {
  return record_of({{"core", Value(std::int64_t{row.core})},
                    {"bytes", Value(row.bytes)},
                    {"busy", Value(row.busy / steps)},
                    {"energy", Value(pj(energy / steps))}});
}

}  // namespace

constinit const std::span<const ReportField> hw_report_fields = fields;

std::vector<Value> hw_report_values(const ChipRuns& runs, const Chip& chip) {
  std::int64_t cycles = 0, memory = 0, packets = 0;
  PerEvent counts;
  List layers, cores;
  for (const ChipPicture& picture : pictures_of(runs)) {
    const ChipAccount& account = picture.account;
    counts += picture.counts();
    cycles += picture.cycles;
    memory = std::max(memory, account.memory);
    packets += account.packets * (picture.steps / account.steps);
    for (const LayerRow& row : account.layers) layers.push_back(layer_value(row, account.steps));
    for (std::size_t c = 0; c < account.cores.size(); ++c)
      cores.push_back(core_value(account.cores[c], energy_of(account.counts.cores()[c], chip), account.steps));
  }
  return {Value(cycles),
          Value(static_cast<double>(cycles) / static_cast<double>(chip.hz)),
          Value(pj(energy_of(counts, chip))),
          energy_by(counts, chip),
          Value(memory),
          Value(packets),
          Value(std::move(layers)),
          Value(std::move(cores))};
}

std::string hw_report_text(const ChipRuns& runs, const Chip& chip) {
  std::string text;
  for (const ChipPicture& picture : pictures_of(runs))
    text += (text.empty() ? "" : "\n\n") + chip_kind(chip.kind).text(picture);
  return text;
}

namespace {

class HwPicture final : public RunPicture {
 public:
  explicit HwPicture(ChipPicture picture) : picture_(std::move(picture)) {}
  Tab tab() const override { return Tab::chip; }
  std::string text() const override {
    return picture_.title + "\n" + chip_kind(picture_.chip->kind).text(picture_) + "\n";
  }
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
  for (ChipPicture& picture : pictures_of(runs)) pictures.push_back(std::make_shared<HwPicture>(std::move(picture)));
  return pictures;
}

}  // namespace taskspec
