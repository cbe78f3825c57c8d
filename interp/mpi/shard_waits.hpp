// What the shards of a process are at, for its watchdog: a shard that waits looks around again and again, and says so
// each time; one of which nothing is heard computes. Written by the thread of each shard, read by the watchdog's.
//
//   waits.at(0).waits("a fence", call);       // each time that it finds nothing to do
//   waits.is_running(now)                     // some shard does not wait
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "interp/shards/message.hpp"

namespace taskspec {

class ShardWaits {
 public:
  using Clock = std::chrono::steady_clock;

  class Shard {
   public:
    explicit Shard(ShardId id) : id_(id) {}
    void waits(const char* what, std::uint64_t call, Clock::time_point now = Clock::now());
    void ended() { has_ended_ = true; }

   private:
    friend class ShardWaits;
    const ShardId id_;
    std::atomic<std::int64_t> looked_at_{0};  // of the clock, when it last found that it must wait
    std::atomic<std::uint64_t> came_{0};      // how often it came to wait anew
    std::atomic<const char*> what_{"a beginning"};
    std::atomic<std::uint64_t> call_{0};
    std::atomic<bool> has_ended_{false};
  };

  void add(ShardId shard) { shards_.emplace_back(shard); }
  Shard& at(std::size_t here) { return shards_[here]; }
  Shard& of(ShardId shard);

  // A shard that has not looked around for so long does something else.
  static constexpr Clock::duration computes_after = std::chrono::seconds(1);
  bool is_running(Clock::time_point now = Clock::now()) const;
  // Grows whenever a shard did something between two waits.
  std::uint64_t steps() const;
  std::string text() const;  // a line for each shard

 private:
  std::deque<Shard> shards_;
};

}  // namespace taskspec
