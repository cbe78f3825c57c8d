// The ways of messages, once their cores have places: which packets one core sends for several, and which stop on the
// way because a head cannot name a place so far away.
//
//   Diags faults = find_ways(program);
//   for (const ChipWay& way : ways_of(program)) ...     // as the network sees them
//
// Cores that read the same bytes at the same addresses are a multicast: the first keeps a copy and sends the packets on
// to the next one, a clk behind. The order is greedy, always on to the nearest; where unicasts take no more packets
// over links than such a chain, there is none.
#pragma once
#include "hwsim/noc/noc.hpp"
#include "hwsim/program/program.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

// Sets `behind` and `relays` of messages, and takes what others send on out of the lists of their senders. Error E4043:
// a place that no head reaches, not even over relays.
Diags find_ways(ChipProgram& program);

// Packets from where they are sent first to where they end.
struct ChipWay {
  std::int32_t message = 0;  // the first
  int source = 0;            // places are those of NocFlow
  struct Leg {
    int place = 0;
    std::int32_t message = ChipMessage::no_message;  // whose packets stay there; none: a relay
  };
  std::vector<Leg> legs;
};

// By first message, in their order; without those from host to host.
std::vector<ChipWay> ways_of(const ChipProgram& program);

// What is sent in a step, each message when its phase makes it if that began at 0.
struct ChipFlows {
  std::vector<NocFlow> flows;
  std::vector<std::vector<int>> copies;  // that they point to
};
ChipFlows flows_of(const ChipProgram& program);
// Packets by place, of one step: exact, whatever the model of the network.
NocTraffic traffic_of(const ChipProgram& program);

}  // namespace taskspec
