// What has come for one shard: any thread puts messages in, the shard's own takes them out, in that order, and sleeps
// while there are none.
//
//   mailbox.put(message);                 // any thread
//   if (auto message = mailbox.take()) ...
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "interp/shards/message.hpp"
#include "ir/base/relax.hpp"

namespace taskspec {

class Mailbox {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void put(ShardMessage message) {
    bool was_empty;
    {
      const std::lock_guard lock(mutex_);
      was_empty = come_.empty();
      come_.push_back(std::move(message));
      has_news_.store(true, std::memory_order_relaxed);
    }
    if (was_empty) changed_.notify_one();
  }
  // All that has come is taken at once, so that the lock is taken once for many messages.
  std::optional<ShardMessage> take() {
    if (taken_.empty() && !has_news_.load(std::memory_order_relaxed)) return std::nullopt;
    if (taken_.empty()) {
      const std::lock_guard lock(mutex_);
      std::swap(taken_, come_);
      has_news_.store(is_awake_ || is_called_, std::memory_order_relaxed);
    }
    if (taken_.empty()) return std::nullopt;
    std::optional<ShardMessage> first = std::move(taken_.front());
    taken_.pop_front();
    return first;
  }
  bool has_taken() const { return !taken_.empty(); }  // for the shard's own thread

  // What comes soon, here or elsewhere, is seen sooner than a sleeper is woken, if the shard has a core to itself.
  // Holds no lock.
  template <class HasCome>
  void look_until(Time end, HasCome has_come) const {
    constexpr int looks_in_a_row = 64;  // as the clock costs more than a look
    do {
      for (int i = 0; i < looks_in_a_row; ++i) {
        if (has_news_.load(std::memory_order_relaxed) || has_come()) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < end);
  }

  // There is nothing to wait for any more: something has come, or somebody woke the shard.
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return !come_.empty() || is_awake_;
  }
  // Also until somebody calls.
  void sleep_until(Time end) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [&] { return !come_.empty() || is_awake_ || is_called_; });
    is_called_ = false;
    has_news_.store(!come_.empty() || is_awake_, std::memory_order_relaxed);
  }
  void waited() {  // who was woken has seen it
    const std::lock_guard lock(mutex_);
    is_awake_ = false;
    has_news_.store(!come_.empty() || is_called_, std::memory_order_relaxed);
  }
  void wake() { change(is_awake_); }
  void call() { change(is_called_); }

  void lose(ShardId shard) {
    {
      const std::lock_guard lock(mutex_);
      if (!lost_) lost_ = shard;
    }
    wake();
  }
  std::optional<ShardId> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  void change(bool& what) {
    {
      const std::lock_guard lock(mutex_);
      what = true;
      has_news_.store(true, std::memory_order_relaxed);
    }
    changed_.notify_one();
  }

  std::deque<ShardMessage> taken_;  // of the shard's own thread
  mutable std::mutex mutex_;        // of all below
  std::condition_variable changed_;
  std::deque<ShardMessage> come_;
  std::optional<ShardId> lost_;
  bool is_awake_ = false, is_called_ = false;
  std::atomic<bool> has_news_ = false;  // something has come, or somebody woke or called; written under the lock
};

// A look before a sleep lasts about as long as a sleeper takes to wake.
inline constexpr std::int64_t longest_look = 100'000;  // ns

// Not by deadlines that run over: who waits "for ever" says so with a very large number.
inline Mailbox::Time after(Mailbox::Time begin, std::int64_t nanoseconds) {
  constexpr std::int64_t longest = 1'000'000'000'000'000;
  return begin + std::chrono::nanoseconds(nanoseconds < longest ? nanoseconds : longest);
}

}  // namespace taskspec
