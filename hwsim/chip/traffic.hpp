// Traffic that another program's mapper wrote: who sends how many packets to whom, phase by phase, in JSON. For tests
// of the network and for benchmarks.
//
//   Result<TrafficFile> file = read_traffic(text, "lenet.json");
//   for (const TrafficFlow& flow : file->phases[0].groups[0].flows) ...
//
//   {"chip_w": 1, "chip_h": 1, "core_w": 16, "core_h": 10,       also inside of "array_config"
//    "phase_list": {"0": {"0": [core, ...]}}}                    by phase and group, each from "0" on; or lists
//   core:   {"core_id": place, "A2S2_mode": 0, "A_time": 0, "S1_time": 0, "S2_time": 0, "packets": [packet, ...],
//            "multicast_core": false, "multicast_dst": place}
//   packet: {"dst_core_id": place, "pack_num": 224, "multicast_pack": false, "src_core_id": place}
//   place:  {"chip_x": 0, "chip_y": 0, "core_x": 1, "core_y": 2}
//
// Comments from // to the end of a line are taken, and fields that are not named here. Packets of a multicast that
// reach a multicast core go on: by its packet whose src_core_id is the core before, else to its multicast_dst.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hwsim/chip/chip.hpp"

namespace taskspec {

// Cores are y * width + x of the whole grid of chips.
struct TrafficFlow {
  std::int32_t source = 0, target = 0;
  std::int64_t packets = 0;
  std::vector<std::int32_t> copies = {};  // cores that get a copy each, one after the other, from the target on
};

struct TrafficCore {
  std::int32_t core = 0;
  bool a2s2 = false;
  std::int64_t axon_clk = 0, soma1_clk = 0, soma2_clk = 0;
};

struct TrafficGroup {
  std::vector<TrafficCore> cores;
  std::vector<TrafficFlow> flows;  // in the order of the file
};

struct TrafficPhase {
  std::vector<TrafficGroup> groups;
};

struct TrafficFile {
  ChipExtent chips, cores;  // cores of one chip
  std::vector<TrafficPhase> phases;
  std::int64_t packets() const;  // sent at their sources, copies not counted
};

// `file` is for messages. E7003: all faults at once, each with its JSON pointer.
Result<TrafficFile> read_traffic(std::string_view json, std::string file);

}  // namespace taskspec
