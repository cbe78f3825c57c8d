#include "hwsim/chip/traffic.hpp"

#include <fmt/format.h>

#include <map>

#include "hwsim/chip/fields.hpp"

namespace taskspec {

namespace {

constexpr double most_packets = 1e9, most_traffic_cores = 1 << 20;

struct RawPacket {
  std::int32_t from = 0, to = 0;  // from: src_core_id, else the core itself
  std::int64_t packets = 0;
  bool is_multicast = false, is_taken = false;
  std::string pointer;
};

struct RawCore {
  TrafficCore core;
  std::vector<RawPacket> packets;
  bool is_multicast = false;
  std::int32_t next = -1;  // multicast_dst
  std::string pointer;
};

constexpr std::size_t most_compared = 100'000'000;  // a file of many megabytes may have been made to be slow

class TrafficReader {
 public:
  TrafficReader(ChipReading& reading, const Json& root) : reading_(reading), root_(root) {}

  TrafficFile read() {
    ChipFields fields(reading_, &root_, "");
    if (fields.find("array_config")) {
      ChipFields inner = fields.fields("array_config");
      read_extents(inner);
    } else {
      read_extents(fields);
    }
    if (const Json* phases = fields.need("phase_list"))
      each_of(*phases, "/phase_list", [&](const Json& phase, const std::string& pointer) {
        file_.phases.emplace_back();
        each_of(phase, pointer, [&](const Json& group, const std::string& at) { read_group(group, at); });
      });
    return std::move(file_);
  }

 private:
  void read_extents(ChipFields& fields) {
    constexpr WantedNumber extent{"", 1, 4096};
    file_.chips = {fields.plain("chip_w", extent), fields.plain("chip_h", extent)};
    file_.cores = {fields.plain("core_w", extent), fields.plain("core_h", extent)};
    if (static_cast<double>(file_.chips.area()) * static_cast<double>(file_.cores.area()) > most_traffic_cores)
      reading_.fault(fields.pointer(), fmt::format("expected at most {} cores in all", most_traffic_cores));
  }

  // A list, or an object whose keys are "0", "1", ...
  template <class Visit>
  void each_of(const Json& value, const std::string& pointer, Visit visit) {
    if (!value.is_array() && !value.is_object())
      return reading_.expected(pointer, "a list, or an object with the keys \"0\", \"1\", ...", value);
    for (std::size_t i = 0; i < value.size() && !reading_.is_full(); ++i) {
      const std::string key = std::to_string(i);
      if (value.is_object() && !value.contains(key))
        return reading_.fault(pointer, fmt::format("there is no '{}' among {} keys", key, value.size()));
      visit(value.is_array() ? value[i] : value[key], pointer + "/" + key);
    }
  }

  std::int32_t place(ChipFields fields) {
    const auto part = [&](const char* key, std::int64_t count) {
      return fields.plain(key, {"", 0, static_cast<double>(count - 1)});
    };
    const std::int64_t chip_x = part("chip_x", file_.chips.x), chip_y = part("chip_y", file_.chips.y);
    const std::int64_t x = part("core_x", file_.cores.x), y = part("core_y", file_.cores.y);
    return static_cast<std::int32_t>((chip_y * file_.cores.y + y) * file_.chips.x * file_.cores.x +
                                     chip_x * file_.cores.x + x);
  }
  // true, false, 1, 0; absent: false.
  bool flag(ChipFields& fields, std::string_view key) {
    const Json* value = fields.find(key);
    if (!value) return false;
    if (value->is_boolean()) return value->get<bool>();
    if (*value == 0 || *value == 1) return *value == 1;
    reading_.expected(fields.pointer(key), "true, false, 1 or 0", *value);
    return false;
  }
  std::int64_t clk(ChipFields& fields, std::string_view key) {
    return fields.find(key) ? fields.plain(key, {"", 0, most_packets}) : 0;
  }

  RawCore read_core(ChipFields fields) {
    RawCore made;
    made.pointer = fields.pointer();
    made.core.core = place(fields.fields("core_id"));
    made.core.a2s2 = flag(fields, "A2S2_mode");
    made.core.axon_clk = clk(fields, "A_time");
    made.core.soma1_clk = clk(fields, "S1_time");
    made.core.soma2_clk = clk(fields, "S2_time");
    made.is_multicast = flag(fields, "multicast_core");
    if (made.is_multicast && fields.find("multicast_dst")) made.next = place(fields.fields("multicast_dst"));
    const Json* packets = fields.find("packets");
    if (!packets) return made;
    if (!packets->is_array()) {
      reading_.expected(fields.pointer("packets"), "a list", *packets);
      return made;
    }
    for (std::size_t i = 0; i < packets->size() && !reading_.is_full(); ++i) {
      ChipFields packet(reading_, &(*packets)[i], fmt::format("{}/{}", fields.pointer("packets"), i));
      RawPacket raw;
      raw.pointer = packet.pointer();
      raw.to = place(packet.fields("dst_core_id"));
      raw.packets = packet.plain("pack_num", {"", 0, most_packets});
      raw.is_multicast = flag(packet, "multicast_pack");
      raw.from = raw.is_multicast && packet.find("src_core_id") ? place(packet.fields("src_core_id")) : made.core.core;
      made.packets.push_back(std::move(raw));
    }
    return made;
  }

  void read_group(const Json& group, const std::string& pointer) {
    std::vector<RawCore> cores;
    std::map<std::int32_t, std::size_t> by_core;
    each_of(group, pointer, [&](const Json& core, const std::string& at) {
      cores.push_back(read_core(ChipFields(reading_, &core, at)));
      if (!by_core.emplace(cores.back().core.core, cores.size() - 1).second)
        reading_.fault(at + "/core_id", "this group has the core already");
    });
    TrafficGroup made;
    for (RawCore& core : cores) {
      made.cores.push_back(core.core);
      for (RawPacket& packet : core.packets) {
        if (packet.from != core.core.core) continue;  // it goes on with what came from there
        packet.is_taken = true;
        if (packet.packets == 0) continue;
        TrafficFlow flow{core.core.core, packet.to, packet.packets};
        if (packet.is_multicast) follow(cores, by_core, packet, flow);
        made.flows.push_back(std::move(flow));
      }
    }
    for (const RawCore& core : cores)
      for (const RawPacket& packet : core.packets)
        if (!packet.is_taken && !reading_.is_full())
          reading_.fault(packet.pointer, "it goes on with packets that nobody sends here");
    if (file_.phases.back().groups.size() < 4096) file_.phases.back().groups.push_back(std::move(made));
  }

  void follow(std::vector<RawCore>& cores, const std::map<std::int32_t, std::size_t>& by_core, const RawPacket& first,
              TrafficFlow& flow) {
    std::int32_t before = flow.source, here = flow.target;
    for (std::size_t steps = 0;; ++steps) {
      const auto found = by_core.find(here);
      if (found == by_core.end() || !cores[found->second].is_multicast) return;
      if (steps > cores.size()) return reading_.fault(first.pointer, "its multicast goes round in a circle");
      RawCore& core = cores[found->second];
      std::int32_t next = core.next;
      compared_ += core.packets.size();
      if (compared_ > most_compared) return reading_.fault(first.pointer, "there are too many packets of multicasts");
      for (RawPacket& packet : core.packets)
        if (packet.is_multicast && packet.from == before && packet.from != here && packet.packets == first.packets) {
          packet.is_taken = true;
          next = packet.to;
          break;
        }
      if (next < 0) return;  // a multicast core for other packets than these
      flow.copies.push_back(next);
      before = here;
      here = next;
    }
  }

  ChipReading& reading_;
  const Json& root_;
  TrafficFile file_;
  std::size_t compared_ = 0;  // by multicasts that look for how they go on
};

// Spaces in place of comments, so that places in the text stay what they are.
std::string without_comments(std::string_view text) {
  std::string out(text);
  bool in_text = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '"') in_text = !in_text;
    if (in_text && out[i] == '\\') ++i;
    if (!in_text && out[i] == '/' && i + 1 < out.size() && out[i + 1] == '/')
      for (; i < out.size() && out[i] != '\n'; ++i) out[i] = ' ';
  }
  return out;
}

}  // namespace

std::int64_t TrafficFile::packets() const {
  std::int64_t sum = 0;
  for (const TrafficPhase& phase : phases)
    for (const TrafficGroup& group : phase.groups)
      for (const TrafficFlow& flow : group.flows) sum += flow.packets;
  return sum;
}

Result<TrafficFile> read_traffic(std::string_view json, std::string file) {
  constexpr std::size_t largest = std::size_t{1} << 25;
  try {
    const Json root = parsed_json(file, "traffic", json.size() > largest ? json : without_comments(json), largest);
    ChipReading reading(file, "traffic", root);
    TrafficFile made = TrafficReader(reading, root).read();
    if (reading.diags.has_errors()) return std::move(reading.diags);
    return made;
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace taskspec
