// That a run on shards has failed: whoever waits for others learns of it, and of the first reason in the order of the
// program. A shard that is behind the call at which it failed goes on until it comes there: what the program said
// before, it says.
//
//   failure.set(diags, 17, wake_all);  failure.raise_if_reached(last_call);
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

#include "ir/base/diag.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

class ShardFailure {
 public:
  bool is_set() const { return at_.load(std::memory_order_acquire) != never; }
  bool is_reached(std::uint64_t call) const { return is_set() && call >= at_.load(std::memory_order_acquire); }
  // From any thread of the process; at 0 it is heard at once. False: an earlier one is known. `others` wakes who
  // sleeps.
  bool set(Diags diags, std::uint64_t at, const std::function<void()>& others) {
    {
      const std::lock_guard lock(mutex_);
      if (at >= at_.load(std::memory_order_relaxed)) return false;
      diags_ = std::move(diags);
      at_.store(at, std::memory_order_release);
    }
    others();
    return true;
  }
  Diags diags() const {
    const std::lock_guard lock(mutex_);
    return diags_;
  }
  void raise_if_reached(std::uint64_t call) const {
    if (is_reached(call)) throw Error(diags());
  }
  // That is: a fault seen by a shard is not its own, but what it heard from the run.
  bool says(Code code, std::string_view message) const {
    if (!is_set()) return false;
    const Diags known = diags();
    return known.items().front().code == code && known.items().front().message == message;
  }

 private:
  static constexpr std::uint64_t never = UINT64_MAX;
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> at_{never};  // the call
  Diags diags_;
};

}  // namespace taskspec
