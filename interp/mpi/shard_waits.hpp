// What the shards of a process are at, for its watchdog: a shard that waits looks around again and again, and says so
// each time; one of which nothing is heard computes. Written by the thread of each shard, read by the watchdog's.
//
//   waits.at(0).waits("a fence", call);       // each time that it finds nothing to do
//   waits.is_running(now)                     // some shard does not wait
//   waits.at(0).calls(17, span);              // it is alive: a call was made
//   waits.longest(now)                        // the shard of which nothing was heard for the longest time
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "interp/shards/message.hpp"
#include "ir/base/source.hpp"

namespace taskspec {

class ShardWaits {
 public:
  using Clock = std::chrono::steady_clock;

  // Two threads do not write to one line of the cache with each call.
  class alignas(128) Shard {
   public:
    explicit Shard(ShardId id) : id_(id) {}
    void waits(const char* what, std::uint64_t call, Clock::time_point now = coarse_now());
    void calls(std::uint64_t number, Span span, Clock::time_point now = coarse_now());
    void steps();  // it did something else that may end a wait of others
    void ended() { has_ended_ = true; }
    bool has_ended() const { return has_ended_; }
    // It has come to a run inside of this one, which looks after it meanwhile; or is back.
    void set_elsewhere(bool elsewhere, Clock::time_point now = Clock::now());

   private:
    friend class ShardWaits;
    const ShardId id_;
    // Of the clock: when it last found that it must wait, and when it last made a call.
    std::atomic<std::int64_t> looked_at_{0}, called_at_{Clock::now().time_since_epoch().count()};
    std::atomic<std::uint64_t> came_{0};  // how often it came to wait anew
    std::atomic<const char*> what_{"a beginning"};
    std::atomic<std::uint64_t> call_{0};
    std::atomic<bool> has_ended_{false}, is_elsewhere_{false};
    // Read when nothing has been heard for long, so that they belong together.
    std::atomic<std::uint64_t> last_call_{0};
    std::atomic<std::uint32_t> source_{SourceId().value}, begin_{0}, end_{0};  // its place
    std::atomic<std::uint64_t> done_{0};                                       // calls, and what else it did
  };

  void add(ShardId shard) { shards_.emplace_back(shard); }
  Shard& at(std::size_t here) { return shards_[here]; }
  Shard& of(ShardId shard);

  // A shard that has not looked around for so long does something else.
  static constexpr Clock::duration computes_after = std::chrono::seconds(1);
  bool is_running(Clock::time_point now = Clock::now()) const;
  struct Silence {
    ShardId shard;
    Clock::duration time{};
    std::uint64_t last_call = 0;
    Span last_place{};
  };
  // None: all have ended.
  std::optional<Silence> longest(Clock::time_point now = Clock::now()) const;
  // Grows whenever a shard did something, also if that was only to come to wait anew.
  std::uint64_t steps() const;
  std::uint64_t done() const;             // only for the former
  static Clock::time_point coarse_now();  // of some milliseconds ago: for each call
  std::string text() const;               // a line for each shard

 private:
  std::deque<Shard> shards_;
};

}  // namespace taskspec
