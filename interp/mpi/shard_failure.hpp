// That a run on shards has failed: whoever waits for others learns of it, and of the first reason.
//
//   failure.set(diags);  failure.raise_if_set();
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

#include "ir/base/diag.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

class ShardFailure {
 public:
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  // From any thread of the process. The first one counts; `others` wakes who sleeps.
  void set(Diags diags, const std::function<void()>& others) {
    {
      const std::lock_guard lock(mutex_);
      if (set_.load(std::memory_order_relaxed)) return;
      diags_ = std::move(diags);
      set_.store(true, std::memory_order_release);
    }
    others();
  }
  void raise_if_set() const {
    if (is_set()) throw Error(diags_);
  }
  // That is: a fault seen by a shard is not its own, but what it heard from the run.
  bool says(Code code, std::string_view message) const {
    return is_set() && diags_.items().front().code == code && diags_.items().front().message == message;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> set_{false};
  Diags diags_;  // nobody changes it once it is set
};

}  // namespace taskspec
