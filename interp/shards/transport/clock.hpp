// Time, given from outside: a simulator runs the same code by a clock of its own.
#pragma once
#include <chrono>
#include <cstdint>

namespace taskspec {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t nanoseconds() const = 0;  // since some moment; never goes back
};

class SteadyClock final : public Clock {
 public:
  std::int64_t nanoseconds() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
};

// Stands until somebody moves it: tests and simulations.
class ManualClock final : public Clock {
 public:
  std::int64_t nanoseconds() const override { return now_; }
  void advance(std::int64_t nanoseconds) { now_ += nanoseconds; }

 private:
  std::int64_t now_ = 0;
};

}  // namespace taskspec
