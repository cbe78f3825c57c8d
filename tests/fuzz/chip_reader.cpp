// Chip files: the presets, and what can become of them; traffic files.
#include "hwsim/chip/chip.hpp"
#include "hwsim/chip/traffic.hpp"
#include "hwsim/map/mapping_file.hpp"
#include "tests/fuzz/readers.hpp"

namespace taskspec::fuzz {

namespace {

std::vector<std::string> chip_samples() {
  std::vector<std::string> samples;
  for (const std::string& name : chip_presets()) samples.push_back(find_chip(name).value_or_throw().text);
  return samples;
}

bool read_chip_file(const std::string& bytes) {
  const Result<Chip> chip = read_chip(bytes, "x.json");
  if (!chip) throw Error(chip.diags());
  for (const ChipFigure& figure : chip->figures)
    if (figure.source.empty() || figure.pointer.empty()) throw Odd("a figure without source or place");
  if (chip->memory_bytes() < 1 || chip->hz < 1 || chip->grid.cores.area() < 1) throw Odd("a chip of nothing");
  if (chip->sync.barrier_clk(3) < 0) throw Odd("a barrier that gives time back");
  return true;
}

std::vector<std::string> traffic_samples() {
  const std::string a = R"({"chip_x": 0, "chip_y": 0, "core_x": 0, "core_y": 0})",
                    b = R"({"chip_x": 0, "chip_y": 0, "core_x": 1, "core_y": 0})",
                    c = R"({"chip_x": 1, "chip_y": 0, "core_x": 0, "core_y": 1})";
  const std::string extents = R"("chip_w": 2, "chip_h": 1, "core_w": 2, "core_h": 2)";
  const std::string core = R"({"core_id": )" + a + R"(, "A2S2_mode": 1, "A_time": 40, "packets": [{"dst_core_id": )" +
                           b + R"(, "pack_num": 9, "multicast_pack": true}]})";
  const std::string relay = R"({"core_id": )" + b + R"(, "multicast_core": true, "packets": [{"src_core_id": )" + a +
                            R"(, "dst_core_id": )" + c + R"(, "pack_num": 9, "multicast_pack": true}]})";
  const std::string named = R"({"core_id": )" + b + R"(, "multicast_core": 1, "multicast_dst": )" + c + "}";
  return {"{" + extents + R"(, "phase_list": {"0": {"0": [)" + core + ", " + relay + "]}}} // ends",
          R"({"array_config": {)" + extents + R"(}, "phase_list": [[[)" + core + ", " + named + "]]]}",
          "{" + extents + R"(, "phase_list": {}})"};
}

bool read_traffic_file(const std::string& bytes) {
  const Result<TrafficFile> file = read_traffic(bytes, "x.json");
  if (!file) throw Error(file.diags());
  const std::int64_t cores = file->chips.area() * file->cores.area();
  for (const TrafficPhase& phase : file->phases)
    for (const TrafficGroup& group : phase.groups)
      for (const TrafficFlow& flow : group.flows) {
        if (flow.source < 0 || flow.source >= cores || flow.target < 0 || flow.target >= cores || flow.packets < 1)
          throw Odd("packets from nowhere to nowhere");
        for (const std::int32_t copy : flow.copies)
          if (copy < 0 || copy >= cores) throw Odd("a copy for nobody");
      }
  return file->packets() >= 0;
}

std::vector<std::string> mapping_samples() {
  const std::string head = R"({"format": "taskspec-mapping", "version": 1, "net": "n", "chip": "tiny", "units": [)";
  const std::string
      a = R"({"name": "a", "blocks": "CLUT 4 x 4 x 16", "grid": {"y": 1, "x": 1, "f": 1}, "group": 0, "phase": 0, "cores": [0]})",
      b = R"({"name": "b", "blocks": "CLUT 4 x 4 x 16", "grid": {"y": 2, "x": 1, "f": 1}, "group": 1, "phase": 0, "cores": [1, 2]})";
  return {head + R"(], "share": []})", head + a + R"(], "share": []})",
          head + a + ", " + b + R"(], "share": [["a", "b"]]})"};
}

bool read_mapping_file(const std::string& bytes) {
  const Result<MapFile> file = read_mapping(bytes, "x.json");
  if (!file) throw Error(file.diags());
  if (file->names.size() != file->decisions.units.size() || file->blocks.size() != file->names.size())
    throw Odd("units without names");
  for (const MapUnit& unit : file->decisions.units) {
    if (static_cast<std::int64_t>(unit.cores.size()) != unit.grid.pieces()) throw Odd("pieces without cores");
    if (unit.group < 0 || unit.phase < 0 || unit.phase >= phases_of(file->decisions, unit.group))
      throw Odd("a phase that its group has not");
    for (const std::int32_t core : unit.cores)
      if (core < 0) throw Odd("a core below all cores");
  }
  return true;
}

}  // namespace

extern const Reader reader_mapping{Grain::tokens, mapping_samples, nullptr, read_mapping_file};
extern const Reader reader_traffic{Grain::tokens, traffic_samples, nullptr, read_traffic_file};
extern const Reader reader_chip{Grain::tokens, chip_samples, nullptr, read_chip_file};

}  // namespace taskspec::fuzz
