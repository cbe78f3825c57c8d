#include "hwsim/map/mapping_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hwsim/chip/fields.hpp"

namespace taskspec {

namespace {

constexpr std::size_t largest_mapping = std::size_t{64} << 20;  // bytes
constexpr double most_units = 1 << 20, most_parts = 1 << 20, most_numbers = 1 << 24;

using Ordered = nlohmann::ordered_json;

}  // namespace

MapFile as_file(const ChipMapping& mapping) {
  MapFile made{.file = {},
               .net = mapping.net().graph->name,
               .chip = mapping.chip().name,
               .names = {},
               .blocks = {},
               .decisions = mapping.decisions()};
  for (const ChipUnit& unit : mapping.units().units) {
    made.names.push_back(unit.name);
    made.blocks.push_back(unit_text(mapping.net(), unit));
  }
  made.chips = chips_of(mapping.options());
  made.cores = mapping.options().cores;
  for (const SumCut& cut : mapping.cuts()) made.sums.emplace_back((*mapping.given().graph)[cut.block].name, cut.parts);
  return made;
}

std::string mapping_json(const ChipMapping& mapping) {
  const MapFile file = as_file(mapping);
  Ordered root{{"format", "taskspec-mapping"}, {"version", 1}, {"net", file.net}, {"chip", file.chip}};
  root["chips"] = {file.chips.x, file.chips.y};
  if (file.cores) root["cores"] = *file.cores;
  Ordered units = Ordered::array();
  for (std::size_t u = 0; u < file.names.size(); ++u) {
    const MapUnit& unit = file.decisions.units[u];
    units.push_back({{"name", file.names[u]},
                     {"blocks", file.blocks[u]},
                     {"grid", {{"y", unit.grid.y}, {"x", unit.grid.x}, {"f", unit.grid.f}}},
                     {"group", unit.group},
                     {"phase", unit.phase},
                     {"cores", unit.cores}});
    if (unit.streams) units.back()["streams"] = true;
    if (unit.slab_rows != 0) units.back()["slab_rows"] = unit.slab_rows;
    if (unit.pipeline_rows != 0) units.back()["pipeline_rows"] = unit.pipeline_rows;
  }
  root["units"] = std::move(units);
  Ordered share = Ordered::array();
  for (const auto& [a, b] : file.decisions.share) share.push_back({file.names[a], file.names[b]});
  root["share"] = std::move(share);
  if (file.decisions.slabs != 1) root["slabs"] = file.decisions.slabs;
  if (file.decisions.depth != 1) root["depth"] = file.decisions.depth;
  if (file.decisions.step_groups != 0) root["step_groups"] = file.decisions.step_groups;
  if (file.decisions.fetches_ahead) root["a2s2"] = true;
  for (const auto& [unit, parts] : file.sums) root["sums"].push_back({{"unit", unit}, {"parts", parts}});
  return root.dump(1) + "\n";
}

namespace {

class MapFileReader {
 public:
  MapFileReader(ChipReading& reading, const Json& root) : reading_(reading), root_(root) {}

  void read(MapFile& into) {
    ChipFields fields(reading_, &root_, "");
    if (const Json* format = fields.need("format"); format && *format != "taskspec-mapping")
      reading_.expected("/format", "\"taskspec-mapping\"", *format);
    if (reading_.diags.has_errors()) return;  // of what is no mapping all else would be wrong, too
    if (const Json* version = fields.need("version"); version && *version != 1)
      reading_.expected("/version", "1, the only version", *version);
    if (reading_.diags.has_errors()) return;
    into.net = fields.text("net");
    into.chip = fields.text("chip");
    if (const Json* units = list(fields, "units"))
      for (std::size_t u = 0; u < units->size() && !reading_.is_full(); ++u)
        read_unit(ChipFields(reading_, &(*units)[u], "/units/" + std::to_string(u)), into);
    if (const Json* share = list(fields, "share"))
      for (std::size_t i = 0; i < share->size() && !reading_.is_full(); ++i)
        read_share((*share)[i], "/share/" + std::to_string(i), into);
    if (fields.find("sums"))
      if (const Json* sums = list(fields, "sums"))
        for (std::size_t i = 0; i < sums->size() && !reading_.is_full(); ++i) {
          ChipFields sum(reading_, &(*sums)[i], "/sums/" + std::to_string(i));
          std::string unit = sum.text("unit");
          into.sums.emplace_back(std::move(unit), sum.plain("parts", {"", 2, most_parts}));
          sum.finish();
        }
    constexpr double most_chips = 1 << 10;
    if (fields.find("chips")) into.chips = fields.pair("chips", {"", 1, most_chips}, true, false);
    if (fields.find("cores")) into.cores = static_cast<std::int32_t>(fields.plain("cores", {"", 1, most_numbers}));
    if (fields.find("slabs")) into.decisions.slabs = fields.plain("slabs", {"", 1, most_numbers});
    constexpr double most_depth = 2;
    if (fields.find("depth"))
      into.decisions.depth = static_cast<std::int32_t>(fields.plain("depth", {"", 1, most_depth}));
    if (fields.find("step_groups"))
      into.decisions.step_groups = static_cast<std::int32_t>(fields.plain("step_groups", {"", 0, most_numbers}));
    if (fields.find("a2s2")) into.decisions.fetches_ahead = fields.truth("a2s2");
    fields.finish();
  }

 private:
  const Json* list(ChipFields& fields, std::string_view key) {
    const Json* value = fields.need(key);
    if (!value) return nullptr;
    if (value->is_array() && static_cast<double>(value->size()) <= most_units) return value;
    reading_.expected(fields.pointer(key), "a list", *value);
    return nullptr;
  }

  void read_unit(ChipFields fields, MapFile& into) {
    constexpr WantedNumber parts{"", 1, most_parts}, number{"", 0, most_numbers};
    MapUnit unit;
    into.names.push_back(fields.text("name"));
    into.blocks.push_back(fields.text("blocks"));
    ChipFields grid = fields.fields("grid");
    unit.grid = {grid.plain("y", parts), grid.plain("x", parts), grid.plain("f", parts)};
    grid.finish();
    unit.group = static_cast<std::int32_t>(fields.plain("group", number));
    unit.phase = static_cast<std::int32_t>(fields.plain("phase", number));
    if (fields.find("streams")) unit.streams = fields.truth("streams");
    if (fields.find("slab_rows")) unit.slab_rows = fields.plain("slab_rows", number);
    if (fields.find("pipeline_rows")) unit.pipeline_rows = fields.plain("pipeline_rows", number);
    if (const Json* cores = list(fields, "cores")) {
      for (std::size_t i = 0; i < cores->size() && !reading_.is_full(); ++i) {
        const double core =
            reading_.number((*cores)[i], fields.pointer("cores") + "/" + std::to_string(i), number, true);
        unit.cores.push_back(core >= 0 ? static_cast<std::int32_t>(core) : 0);
      }
      const double pieces =
          static_cast<double>(unit.grid.y) * static_cast<double>(unit.grid.x) * static_cast<double>(unit.grid.f);
      if (static_cast<double>(cores->size()) != pieces)
        reading_.fault(fields.pointer("cores"),
                       fmt::format("expected a core for each of {:.0f} pieces, found {}", pieces, cores->size()));
    }
    fields.finish();
    into.decisions.units.push_back(std::move(unit));
  }

  void read_share(const Json& pair, const std::string& pointer, MapFile& into) {
    std::vector<std::size_t> both;
    for (std::size_t i = 0; pair.is_array() && pair.size() == 2 && i < 2; ++i)
      for (std::size_t u = 0; u < into.names.size(); ++u)
        if (pair[i] == into.names[u] && both.size() == i) both.push_back(u);
    if (both.size() != 2 || both[0] == both[1]) return reading_.expected(pointer, "the names of two units", pair);
    into.decisions.share.emplace_back(std::minmax(both[0], both[1]));
  }

  ChipReading& reading_;
  const Json& root_;
};

}  // namespace

Result<MapFile> read_mapping(std::string_view json, std::string file) {
  try {
    const Json root = parsed_json(file, "mapping", json, largest_mapping);
    ChipReading reading(file, "mapping", root);
    MapFile made{.file = file, .net = {}, .chip = {}, .names = {}, .blocks = {}, .decisions = {}};
    MapFileReader(reading, root).read(made);
    if (reading.diags.has_errors()) return std::move(reading.diags);
    tidy(made.decisions);
    return made;
  } catch (const Error& error) {
    return error.diags();
  }
}

namespace {

Diags misfit(const MapFile& file, const std::string& pointer, const std::string& what, std::string help = "") {
  Diags diags;
  if (file.file.empty())
    diags.error("E4050", {}, "this mapping is of another network: " + what).help(std::move(help));
  else
    diags.error("E7003", {}, fmt::format("'{}' is no mapping that fits: at {}: {}", file.file, pointer, what))
        .help(std::move(help));
  return diags;
}

}  // namespace

Result<MapDecisions> decisions_for(const MapFile& file, const ChipNet& net, const UnitNet& units, const Chip& chip) {
  if (file.chip != chip.name)
    return misfit(file, "/chip", fmt::format("it is for '{}', and this is '{}'", file.chip, chip.name));
  if (file.names.size() != units.units.size())
    return misfit(file, "/units",
                  fmt::format("it has {} units, the network {}", file.names.size(), units.units.size()));
  for (std::size_t u = 0; u < units.units.size(); ++u) {
    const std::string here = unit_text(net, units.units[u]);
    if (file.blocks[u] != here)
      return misfit(file, fmt::format("/units/{}/blocks", u),
                    fmt::format("'{}' is {}, where the network has '{}', {}", file.names[u], file.blocks[u],
                                units.units[u].name, here));
  }
  if (const std::optional<std::string> fault = slabs_fault(file.decisions.slabs, units.input_rows))
    return misfit(file, "/slabs", *fault);
  const MapDecisions& asked = file.decisions;
  if (const std::optional<std::string> fault = items_fault(asked.depth, asked.step_groups, asked.fetches_ahead))
    return misfit(file, "/a2s2", *fault);
  return file.decisions;
}

namespace {

// Where the file has no say, as the options have it.
MapDecisions with_options(MapDecisions decisions, const MapOptions& options) {
  if (decisions.depth == 1) decisions.depth = options.depth;
  if (decisions.step_groups == 0) decisions.step_groups = options.step_groups;
  decisions.fetches_ahead |= options.fetches_ahead;
  return decisions;
}

}  // namespace

namespace {

// What the file asks for is against a limit.
Diags limit_of_file(const MapFile& file, const UnitNet& units, const Diags& diags) {
  if (file.file.empty()) return diags;
  const Diag& first = diags.items().front();
  std::string pointer = "/units";
  for (std::size_t u = 0; u < units.units.size(); ++u)
    if (first.message.find("'" + units.units[u].name) != std::string::npos) {
      pointer = fmt::format("/units/{}", u);
      break;
    }
  return misfit(file, pointer, fmt::format("{}: {}", first.code.text(), first.message), first.help_text);
}

// Numbers of cores count along rows of all chips: on others they would be other places.
std::optional<std::string> chips_fault(const MapFile& file, ChipExtent here) {
  if (file.chips.area() == 0 || file.chips == here) return std::nullopt;
  return fmt::format("it is for {} x {} chips of '{}', and here are {} x {}", file.chips.x, file.chips.y, file.chip,
                     here.x, here.y);
}

// The chips and cores of the file, where the options leave them open.
MapOptions with_chips(const MapFile& file, MapOptions options) {
  if (options.chips.area() == 0) options.chips = file.chips;
  if (!options.cores) options.cores = file.cores;
  return options;
}

}  // namespace

Result<FittedNet> cut_as(const MapFile& file, const ChipNet& given, const std::optional<BlockTable>& blocks) {
  FittedNet made{given, {}};
  for (std::size_t i = 0; i < file.sums.size(); ++i) {
    const auto& [unit, parts] = file.sums[i];
    const std::string pointer = fmt::format("/sums/{}", i);
    const auto is_it = [&, name = unit](const NetWork& work) { return (*given.graph)[work.block].name == name; };
    const auto work = std::ranges::find_if(given.works, is_it);
    if (work == given.works.end()) return misfit(file, pointer, fmt::format("the network has no '{}'", unit));
    if (auto fault = cut_fault(given, static_cast<std::size_t>(work - given.works.begin()), parts))
      return misfit(file, pointer, *fault);
    if (std::ranges::find(made.cuts, work->block, &SumCut::block) != made.cuts.end())
      return misfit(file, pointer, fmt::format("'{}' is cut twice", unit));
    made.cuts.push_back({work->block, parts});
  }
  if (made.cuts.empty()) return made;
  if (!blocks) return misfit(file, "/sums", "sums are cut where the records of blocks are known");
  std::ranges::sort(made.cuts, {}, [](const SumCut& cut) { return cut.block.index(); });
  Result<ChipNet> net = cut_sums(given, made.cuts, *blocks);
  if (!net) return net.diags();
  made.net = *std::move(net);
  return made;
}

Result<ChipMapping> apply(const MapFile& file, ChipNet given, const MapOptions& asked) {
  const MapOptions options = with_chips(file, asked);
  if (const std::optional<std::string> fault = chips_fault(file, chips_of(options)))
    return misfit(file, "/chips", *fault, "leave chips out: the file says them");
  if (Diags faults = check_options(given, options); faults.has_errors()) return faults;
  Result<FittedNet> fitted = cut_as(file, given, options.blocks);
  if (!fitted) return fitted.diags();
  const UnitNet units = unit_net(fitted->net);
  const Result<MapDecisions> decisions = decisions_for(file, fitted->net, units, *options.chip);
  if (!decisions) return decisions.diags();
  const MapDecisions all = file.file.empty() ? *decisions : with_options(*decisions, options);
  Result<ChipMapping> made = ChipMapping::with(std::move(given), *std::move(fitted), options, all);
  if (!made) return limit_of_file(file, units, made.diags());
  return made;
}

ChipMapping::Done load(ChipMapping& mapping, const MapFile& file) {
  const ChipExtent here = chips_of(mapping.options());
  if (const std::optional<std::string> fault = chips_fault(file, here))
    return misfit(file, "/chips", *fault,
                  fmt::format("load it into map(..., chips: [{}, {}])", file.chips.x, file.chips.y));
  Result<FittedNet> fitted = cut_as(file, mapping.given(), mapping.options().blocks);
  if (!fitted) return fitted.diags();
  const UnitNet units = unit_net(fitted->net);
  const Result<MapDecisions> decisions = decisions_for(file, fitted->net, units, mapping.chip());
  if (!decisions) return decisions.diags();
  ChipMapping::Done done = mapping.take(*std::move(fitted), *decisions);
  if (!done) return limit_of_file(file, units, done.diags());
  return done;
}

}  // namespace taskspec
