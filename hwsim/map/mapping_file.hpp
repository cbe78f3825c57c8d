// A mapping as a file: JSON, with the version of its format. What a file says is looked at as closely as a chip file.
//
//   write_text(path, mapping_json(m));
//   Result<MapFile> file = read_mapping(text, "m.json");          E7003 with file, JSON pointer, what was expected
//   Result<ChipMapping> again = apply(*file, net, {.chip = chip});   E7003 as well: of which unit, and which limit
#pragma once
#include "hwsim/map/mapping.hpp"

namespace taskspec {

struct MapFile {
  std::string file;  // for messages; empty: it comes from a value, not from a file
  std::string net, chip;
  std::vector<std::string> names, blocks;  // of units: conv1, and what it is made of (unit_text)
  MapDecisions decisions;
  std::vector<std::pair<std::string, std::int64_t>> sums =
      {};  // blocks whose sums are cut along r, into how many parts
  // Where its core numbers count: so many chips, of whose cores the first ones may be taken. Older files say neither.
  ChipExtent chips = {0, 0};
  std::optional<std::int32_t> cores = {};
};

MapFile as_file(const ChipMapping& mapping);
std::string mapping_json(const ChipMapping& mapping);
Result<MapFile> read_mapping(std::string_view json, std::string file);

// On this net: its units must be made of the same. Errors: E7003 of a file, E4050 of a value.
Result<MapDecisions> decisions_for(const MapFile& file, const ChipNet& net, const UnitNet& units, const Chip& chip);
Result<FittedNet> cut_as(const MapFile& file, const ChipNet& given, const std::optional<BlockTable>& blocks);
// On the chips that the file says; options may not say others.
Result<ChipMapping> apply(const MapFile& file, ChipNet net, const MapOptions& options);
// As an action, which can be undone.
ChipMapping::Done load(ChipMapping& mapping, const MapFile& file);

}  // namespace taskspec
