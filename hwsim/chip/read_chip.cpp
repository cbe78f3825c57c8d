// The fields of a chip file, in the order of its description (hwsim/chips/README.md).
#include <fmt/format.h>

#include <cmath>

#include "hwsim/chip/fields.hpp"
#include "hwsim/chip/parts.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t largest_chip_file = std::size_t{1} << 20;  // bytes
// Of all chips that can be joined: what the network has coordinates for.
constexpr double most_cores = 1 << 20;
constexpr std::int64_t longest_side = 65535;

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

void read_heading(ChipFields& fields, Chip& chip) {
  ChipReading& reading = fields.reading();
  if (const Json* format = fields.need("format"); format && *format != "taskspec-chip")
    reading.expected("/format", "\"taskspec-chip\"", *format);
  if (const Json* version = fields.need("version"); version && *version != 1)
    reading.expected("/version", "1, the only version", *version);
  chip.name = fields.text("name");
  if (!chip.name.empty() && !is_identifier(chip.name)) reading.expected("/name", "an identifier", chip.name);
  chip.about = fields.text("about");
}

void read_sources(ChipFields& fields) {
  ChipReading& reading = fields.reading();
  const Json* sources = fields.need("sources");
  if (!sources) return;
  if (!sources->is_object()) return reading.expected("/sources", "an object", *sources);
  for (const auto& [key, value] : sources->items()) {
    ChipFields source(reading, &value, "/sources/" + key);
    if (!is_identifier(key) || key == "assumed")
      reading.fault(source.pointer(), "expected an identifier that is not 'assumed' as the key of a source");
    ChipSource made{key, source.text("title"), source.text("where"), ""};
    if (const Json* kind = source.need("kind")) {
      const std::vector<std::string> kinds{"primary", "secondary", "repository"};
      made.kind = kinds[static_cast<std::size_t>(std::max(0, reading.word(*kind, source.pointer("kind"), kinds)))];
    }
    source.finish();
    reading.sources.push_back(std::move(made));
  }
}

void read_runs(ChipFields& fields, Chip& chip) {
  const Json* runs = fields.need("runs");
  if (!runs) return;
  const auto has = [&](const char* what) { return std::count(runs->begin(), runs->end(), Json(what)); };
  if (runs->is_array()) {
    chip.runs_ann = has("ann") == 1;
    chip.runs_snn = has("snn") == 1;
  }
  const std::size_t known = (chip.runs_ann ? 1 : 0) + (chip.runs_snn ? 1 : 0);
  if (known == 0 || runs->size() != known)
    fields.reading().expected("/runs", "a list of \"ann\", \"snn\" or both", *runs);
}

void read_grid(ChipFields fields, Chip& chip) {
  constexpr WantedNumber extent{"1", 1, 4096};
  chip.grid.cores = fields.pair("cores", extent, true, false);
  chip.grid.cores_per_router = fields.plain("cores_per_router", extent);
  chip.grid.chips = fields.pair("chips", extent, true, false);
  chip.grid.max_chips = fields.pair("max_chips", extent, true, false);
  fields.finish();
  if (!fields.is_there()) return;
  ChipReading& reading = fields.reading();
  if (chip.grid.cores.x % chip.grid.cores_per_router != 0)
    reading.fault(fields.pointer("cores_per_router"), "expected a divisor of the cores of a row");
  if (chip.grid.chips.x > chip.grid.max_chips.x || chip.grid.chips.y > chip.grid.max_chips.y)
    reading.fault(fields.pointer("chips"), "expected at most max_chips");
  if (static_cast<double>(chip.grid.cores.area()) * static_cast<double>(chip.grid.max_chips.area()) > most_cores)
    reading.fault(fields.pointer("max_chips"), fmt::format("expected at most {} cores in all", most_cores));
  for (const std::int64_t side : {chip.grid.cores.x * chip.grid.max_chips.x, chip.grid.cores.y * chip.grid.max_chips.y})
    if (side > longest_side)
      reading.fault(fields.pointer("max_chips"), fmt::format("expected at most {} cores in a row", longest_side));
}

}  // namespace

Result<Chip> read_chip(std::string_view json, std::string file) {
  try {
    const Json root = parsed_json(file, "chip", json, largest_chip_file);
    ChipReading reading(file, "chip", root);
    Chip chip;
    chip.file = file;
    ChipFields fields(reading, &root, "");
    read_sources(fields);  // first: figures name them
    read_heading(fields, chip);
    chip.kind = fields.word<ChipKind>("kind", {"primitive", "crossbar", "synaptic"});
    read_runs(fields, chip);
    read_grid(fields.fields("grid"), chip);
    chip_parts::read_clock(fields, chip);
    chip_parts::read_neuron(fields, chip);
    chip_parts::read_memory(fields, chip);
    chip_parts::read_compute(fields, chip);
    chip_parts::read_limits(fields.fields("limits"), chip);
    chip_parts::read_noc(fields.fields("noc"), chip);
    chip_parts::read_time(fields, chip);
    chip_parts::read_energy(fields.fields("energy"), chip);
    fields.finish();
    if (reading.diags.has_errors()) return std::move(reading.diags);
    chip.sources = std::move(reading.sources);
    chip.figures = std::move(reading.figures);
    return chip;
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace taskspec
