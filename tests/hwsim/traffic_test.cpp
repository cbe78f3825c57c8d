// Traffic files: both ways in which other programs write multicasts, and what is wrong with a file.
#include "hwsim/chip/traffic.hpp"

#include <doctest/doctest.h>

namespace taskspec::traffic_test {

namespace {

std::string at(int x, int y = 0, int chip_x = 0) {
  return R"({"chip_x": )" + std::to_string(chip_x) + R"(, "chip_y": 0, "core_x": )" + std::to_string(x) +
         R"(, "core_y": )" + std::to_string(y) + "}";
}
std::string packet(const std::string& to, int count, const std::string& more = "") {
  return R"({"dst_core_id": )" + to + R"(, "pack_num": )" + std::to_string(count) + more + "}";
}
std::string core(const std::string& place, const std::string& packets, const std::string& more = "") {
  return R"({"core_id": )" + place + R"(, "packets": [)" + packets + "]" + more + "}";
}
std::string file(const std::string& group) {
  return R"({"chip_w": 2, "chip_h": 1, "core_w": 4, "core_h": 3, // two chips
             "phase_list": {"0": {"0": [)" +
         group + "]}}}";
}
TrafficGroup group_of(const std::string& text) {
  TrafficFile read = read_traffic(text, "t.json").value_or_throw();
  REQUIRE(read.phases.size() == 1);
  REQUIRE(read.phases[0].groups.size() == 1);
  return read.phases[0].groups[0];
}
std::string fault_of(const std::string& text) {
  const Result<TrafficFile> read = read_traffic(text, "t.json");
  return read ? "" : read.diags().items().front().message;
}

const std::string multicast = R"(, "multicast_pack": true)", relays = R"(, "multicast_core": true)";
std::string from(const std::string& place) { return R"(, "src_core_id": )" + place; }

}  // namespace

TEST_CASE("packets, times and places of a traffic file [chip]") {
  const TrafficGroup group =
      group_of(file(core(at(0), packet(at(1, 2), 224) + ", " + packet(at(3, 1, 1), 5),
                         R"(, "A2S2_mode": 1, "A_time": 43, "S1_time": 7, "S2_time": 9, "trigger": 0)") +
                    ", " + core(at(1, 2), "")));
  REQUIRE(group.cores.size() == 2);
  CHECK(group.cores[0].a2s2);
  CHECK(group.cores[0].axon_clk == 43);
  CHECK(group.cores[0].soma1_clk == 7);
  CHECK(group.cores[0].soma2_clk == 9);
  CHECK(group.cores[1].core == 2 * 8 + 1);  // rows go over both chips
  REQUIRE(group.flows.size() == 2);
  CHECK(group.flows[0].source == 0);
  CHECK(group.flows[0].target == 17);
  CHECK(group.flows[0].packets == 224);
  CHECK(group.flows[1].target == 1 * 8 + 4 + 3);
  CHECK(group.flows[1].copies.empty());
}

TEST_CASE("a multicast goes on by the packet of the core before, or to where its core says [chip]") {
  // 0 -> 1 -> 2 -> 3, each hop written down.
  const std::string chain = core(at(0), packet(at(1), 9, multicast + from(at(0)))) + ", " +
                            core(at(1), packet(at(2), 9, multicast + from(at(0))) + ", " + packet(at(0), 4), relays) +
                            ", " + core(at(2), packet(at(3), 9, multicast + from(at(1))), relays) + ", " +
                            core(at(3), "");
  const TrafficGroup written = group_of(file(chain));
  REQUIRE(written.flows.size() == 2);
  CHECK(written.flows[0].copies == std::vector<std::int32_t>{2, 3});
  CHECK(written.flows[1].packets == 4);
  // 0 -> 1 -> 2, by the core's own target; packets that are no multicast end at 1.
  const std::string named = core(at(0), packet(at(1), 9, multicast) + ", " + packet(at(1), 2)) + ", " +
                            core(at(1), "", relays + R"(, "multicast_dst": )" + at(2));
  const TrafficGroup short_way = group_of(file(named));
  CHECK(short_way.flows[0].copies == std::vector<std::int32_t>{2});
  CHECK(short_way.flows[1].copies.empty());
  CHECK(read_traffic(file(named), "t.json").value_or_throw().packets() == 11);
}

TEST_CASE("the extents may stand apart, phases and groups may be lists [chip]") {
  const TrafficFile read =
      read_traffic(
          R"({"array_config": {"chip_w": 1, "chip_h": 1, "core_w": 2, "core_h": 2}, "phase_list": [[[], []], []]})",
          "t.json")
          .value_or_throw();
  CHECK(read.cores == ChipExtent{2, 2});
  REQUIRE(read.phases.size() == 2);
  CHECK(read.phases[0].groups.size() == 2);
  CHECK(read.phases[1].groups.empty());
}

TEST_CASE("bad traffic files [chip] [hostile]") {
  CHECK(fault_of("{") == "'t.json' is no traffic that can be read: cut off at line 1, column 2");
  CHECK(fault_of(file(core(at(4), ""))) ==
        "'t.json' is no traffic that can be read: at /phase_list/0/0/0/core_id/core_x: expected a whole number from 0 "
        "to 3, "
        "found 4");
  CHECK(fault_of(file(core(at(0), packet(at(1), -1)))).find("/packets/0/pack_num: expected a whole number from 0") !=
        std::string::npos);
  CHECK(fault_of(file(core(at(0), R"({"pack_num": 1})"))).find("/packets/0: there is no 'dst_core_id'") !=
        std::string::npos);
  CHECK(fault_of(file(core(at(0), "") + ", " + core(at(0), ""))).find("this group has the core already") !=
        std::string::npos);
  CHECK(fault_of(file(core(at(1), packet(at(2), 9, multicast + from(at(0))), relays)))
            .find("/0/packets/0: it goes on with packets that nobody sends here") != std::string::npos);
  const std::string round = core(at(0), packet(at(1), 9, multicast)) + ", " +
                            core(at(1), "", relays + R"(, "multicast_dst": )" + at(2)) + ", " +
                            core(at(2), "", relays + R"(, "multicast_dst": )" + at(1));
  CHECK(fault_of(file(round)).find("its multicast goes round in a circle") != std::string::npos);
  CHECK(fault_of(R"({"chip_w": 1, "chip_h": 1, "core_w": 1, "core_h": 1, "phase_list": {"0": {}, "2": {}}})")
            .find("at /phase_list: there is no '1' among 2 keys") != std::string::npos);
  CHECK(fault_of(R"({"chip_w": 4096, "chip_h": 4096, "core_w": 1, "core_h": 1, "phase_list": {}})")
            .find("cores in all") != std::string::npos);
  CHECK(fault_of(R"({"chip_w": 1})").find("there is no 'chip_h'") != std::string::npos);
}

}  // namespace taskspec::traffic_test
