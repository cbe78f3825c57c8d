// Why the workers of a backend must look twice; one flag word for all its runs.
#pragma once
#include <atomic>
#include <cstdint>

namespace taskspec {

class Attention {
 public:
  static constexpr std::uint32_t careful = 1, interrupted = 2, recorded = 4;
  void raise(std::uint32_t why) { flags_.fetch_or(why, std::memory_order_relaxed); }
  void clear() { flags_.store(0, std::memory_order_relaxed); }
  std::uint32_t flags() const { return flags_.load(std::memory_order_relaxed); }
  bool is_careful() const { return flags() & (careful | interrupted); }  // else only looked at
  bool is_interrupted() const { return flags() & interrupted; }

 private:
  std::atomic<std::uint32_t> flags_{0};
};

}  // namespace taskspec
