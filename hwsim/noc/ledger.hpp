// What became of each flow: its packets that left and arrived, and the events that follow from them, in order of time.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "hwsim/noc/routes.hpp"

namespace taskspec {

// n packets, one every `pace` ticks.
struct NocPart {
  std::int64_t first = 0, packets = 1, pace = 1;
  std::int64_t last() const { return first + (packets - 1) * pace; }
};

class NocLedger {
 public:
  // `tells`: whether events are wanted, or only results.
  explicit NocLedger(bool tells) : tells_(tells) {}

  std::uint32_t add(const NocRoutes& routes, const NocFlow& flow);
  std::size_t flows() const { return first_leg_.size(); }
  int legs(std::uint32_t flow) const;  // 1, and one for each copy
  // Endpoints: the target of leg k, and the source of leg k + 1.
  int target(std::uint32_t flow, int leg) const {
    return legs_[first_leg_[flow] + static_cast<std::size_t>(leg)].target;
  }

  void sent(std::uint32_t flow, const NocPart& part) { note(departures_[flow], flow, -1, part); }
  void arrived(std::uint32_t flow, int leg, const NocPart& part) {
    note(legs_[first_leg_[flow] + static_cast<std::size_t>(leg)].arrival, flow, leg, part);
  }

  std::int64_t next_event() const;                      // its time
  int next_flow() const { return events_.top().flow; }  // of it, if there is one
  NocEvent take_event();
  // All flows must have arrived.
  void write(NocResult& result) const;

 private:
  struct Count {
    std::int64_t left = 0;  // packets to come
    NocTimes times{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  };
  struct Leg {
    int target = 0;
    Count arrival;
  };
  struct Later {
    bool operator()(const NocEvent& a, const NocEvent& b) const;
  };
  void note(Count& count, std::uint32_t flow, int leg, const NocPart& part) {
    count.times.first = std::min(count.times.first, part.first);
    count.times.last = std::max(count.times.last, part.last());
    count.left -= part.packets;
    if (count.left <= 0) complete(count, flow, leg);
  }
  void complete(const Count& count, std::uint32_t flow, int leg);

  bool tells_;
  std::vector<std::uint32_t> first_leg_;  // of each flow
  std::vector<Count> departures_;
  std::vector<Leg> legs_;
  std::priority_queue<NocEvent, std::vector<NocEvent>, Later> events_;
};

}  // namespace taskspec
