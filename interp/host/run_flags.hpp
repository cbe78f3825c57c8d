// Why the workers of a backend must look twice; one flag word for all its runs.
#pragma once
#include <atomic>
#include <cstdint>

namespace taskspec {

class RunFlags {
 public:
  static constexpr std::uint32_t careful = 1, interrupted = 2, recorded = 4;
  void raise(std::uint32_t why) { bits_.fetch_or(why, std::memory_order_relaxed); }
  void clear() { bits_.store(0, std::memory_order_relaxed); }
  std::uint32_t bits() const { return bits_.load(std::memory_order_relaxed); }
  bool is_careful() const { return bits() & (careful | interrupted); }  // else only looked at
  bool is_interrupted() const { return bits() & interrupted; }

 private:
  std::atomic<std::uint32_t> bits_{0};
};

}  // namespace taskspec
