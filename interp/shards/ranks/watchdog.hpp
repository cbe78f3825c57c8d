// Sees to it that nothing hangs: a thread for each rank. Once a second it looks at what has come, also while all shards
// compute, and tells the next rank how far this one is. A rank of which nothing is heard is named (E6003), and all end
// with status 3. So is a shard that computes for longer than a limit, where one is set. Where all are alive and nothing
// goes on anywhere, each shard tells what it waits for: our mistake, status 70.
//
//   Watchdog watchdog(group, {.seconds = 30, .state = [&] { return ...; }, .waits = [&] { return ...; }});
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "interp/shards/ranks/ranks.hpp"

namespace taskspec {

class Watchdog {
 public:
  struct State {
    std::uint64_t steps = 0;  // whatever changes while something goes on: calls, points, messages
    bool is_running = false;  // a body that may take as long as it likes
    std::uint64_t call = 0;   // the last one of this rank
    std::string what, place;  // "launch step", "f.task:31"
  };
  // All are called by the thread of the watchdog.
  struct Options {
    double seconds = 30;                   // of silence, or of nothing done
    std::function<State()> state{};        // of this rank
    std::function<std::string()> waits{};  // a line for each shard of it: what it waits for
    double pause = 1;                      // seconds between looks, at most
    // What computes for longer than it may, in words: ends all ranks.
    std::function<std::optional<Diags>()> overdue{};
    std::function<void()> turn{};              // gives engines that are not in use a turn
    std::function<void(const Diags&)> tell{};  // none: as text, on standard error
  };

  Watchdog(RankGroup& group, Options options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;

 private:
  struct Beat;
  using Clock = std::chrono::steady_clock;
  void run();
  void turn();
  std::deque<Bytes> taken();
  void hear(const Bytes& bytes);
  std::string own_waits() const;
  void tell_silence();
  void end_with(const Diags& why);
  void tell_deadlock();

  RankGroup& group_;
  const Options options_;
  const Clock::duration patience_;
  // What was heard of the rank before this one.
  Clock::time_point heard_at_;
  State theirs_;
  bool has_heard_ = false;
  std::uint64_t quiet_before_ = 0;  // ranks in a row, up to the one before, that do nothing
  // Of this one.
  Clock::time_point changed_at_, asked_at_;
  std::uint64_t steps_ = 0;
  const int starter_;               // the process that started this one
  std::vector<std::string> waits_;  // by rank, once they were asked for

  std::mutex mutex_;
  std::condition_variable stop_;
  bool is_over_ = false;
  std::deque<Bytes> come_;
  std::thread thread_;
};

}  // namespace taskspec
