// What the host program and the graph program of a run did beside the workers: messages between them, with the time
// that was spent waiting for each, plans made, plans run. What a timeline of the whole program is made of.
//
//   ControlLog log(start, true);               // of the host; each program has its own, so nobody waits here
//   const std::int64_t begin = log.now();
//   ... take a message ...
//   log.add({.what = ControlEntry::What::receive, .channel = 3, .begin_ns = begin, .end_ns = log.now()});
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace taskspec {

struct ControlEntry {
  enum class What : std::uint8_t {
    send,     // a message put into its channel: begin to end is how long that was full
    receive,  // a message taken: begin to end is how long it was waited for
    plan,     // a plan and its kernels were made
    run,      // a plan ran; bars of the workers lie inside
  };
  What what = What::send;
  bool host = false;          // of the host program; else of the graph program
  std::uint32_t channel = 0;  // of a message
  std::uint32_t number = 0;   // counts the messages of its channel, the same for both ends
  std::uint32_t plan = 0;     // of plan and run: as in SessionReport::plans_run
  std::uint32_t run = 0;      // as in TimelineEntry
  std::int64_t begin_ns = 0, end_ns = 0;
};

constexpr std::string_view name_of(ControlEntry::What what) {
  constexpr std::string_view names[] = {"send", "receive", "plan", "run"};
  return names[static_cast<std::size_t>(what)];
}

class ControlLog {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most = 200'000;  // nobody looks at more

  ControlLog(Clock::time_point start, bool host) : start_(start), host_(host) {}

  std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }
  void add(ControlEntry entry) {
    if (entries_.size() == most) return;
    entry.host = host_;
    entries_.push_back(entry);
  }
  // Of a message, by its place in its channel.
  void message(ControlEntry::What what, std::uint32_t channel, std::int64_t begin_ns) {
    std::vector<std::uint32_t>& counts = counts_[what == ControlEntry::What::send ? 0 : 1];
    if (counts.size() <= channel) counts.resize(channel + 1, 0);
    add({.what = what, .channel = channel, .number = counts[channel]++, .begin_ns = begin_ns, .end_ns = now()});
  }
  const std::vector<ControlEntry>& entries() const { return entries_; }

 private:
  const Clock::time_point start_;
  const bool host_;
  std::vector<std::uint32_t> counts_[2];  // by channel: sent, received
  std::vector<ControlEntry> entries_;
};

}  // namespace taskspec
