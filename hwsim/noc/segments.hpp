// What leaves the injection ports in a batch, whose flows are all known: the same rule as in events.cpp, for one port
// after the other.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hwsim/noc/injection.hpp"
#include "hwsim/noc/routes.hpp"

namespace taskspec {

class NocPorts {
 public:
  // `departures` becomes those of the flows, by and by.
  NocPorts(const NocRoutes& routes, std::span<const NocFlow> flows, LargeVector<NocTimes>& departures);

  // Calls `leave(flow, target, time, packets)` for every segment, endpoint after endpoint, ascending in time.
  template <class Leave>
  void run(int endpoint, const Leave& leave) {
    const std::span<const Entry> entries = sorted(endpoint);
    started_.clear();
    std::int64_t free = 0;
    std::size_t next = 0;
    while (next < entries.size() || !started_.empty()) {
      // Of the flows that have begun, the one in front; it was not begun later than the next one of the list.
      const bool begins = next < entries.size() && (started_.empty() || before(entries[next], started_.front().entry));
      const Entry entry = begins ? entries[next] : started_.front().entry;
      const std::int64_t now = std::max(free, entry.ready);
      std::int64_t packets = 1;
      if (begins) {
        ++next;
        if (!entry.single) {
          NocDepartures rest(flows_[entry.flow]);
          packets = rest.take(now, link_clk_, burst_);
          if (rest.left() > 0) push(entry, rest);
        }
      } else {
        std::pop_heap(started_.begin(), started_.end(), later);
        NocDepartures rest = started_.back().rest;
        started_.pop_back();
        packets = rest.take(now, link_clk_, burst_);
        if (rest.left() > 0) push(entry, rest);
      }
      free = now + packets * link_clk_;
      // The flows of one source lie far apart.
      __builtin_prefetch(&departures_[entries[std::min(next + 16, entries.size() - 1)].flow], 1);
      NocTimes& times = departures_[entry.flow];
      times = {std::min(times.first, now), free - link_clk_};
      leave(entry.flow, static_cast<int>(entry.target), now, packets);
    }
  }

 private:
  // All that most flows, of one packet, need.
  struct Entry {
    std::int64_t ready = 0;
    std::uint32_t flow = 0;
    std::uint32_t target : 31 = 0;  // an endpoint
    std::uint32_t single : 1 = 0;
  };
  struct Started {
    Entry entry;
    NocDepartures rest;
  };
  static bool before(const Entry& a, const Entry& b) {
    return a.ready != b.ready ? a.ready < b.ready : a.flow < b.flow;
  }
  static bool later(const Started& a, const Started& b) { return before(b.entry, a.entry); }

  std::span<const Entry> sorted(int endpoint);
  void push(Entry entry, const NocDepartures& rest) {
    entry.ready = rest.ready();
    started_.push_back({entry, rest});
    std::push_heap(started_.begin(), started_.end(), later);
  }

  std::span<const NocFlow> flows_;
  LargeVector<NocTimes>& departures_;
  std::int64_t link_clk_, burst_;
  LargeVector<Entry> entries_;      // by endpoint
  std::vector<std::size_t> begins_;  // of each endpoint in entries_, and the end
  std::vector<Started> started_;     // a heap
};

}  // namespace taskspec
