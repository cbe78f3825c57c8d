// How far `fit` is, as one line of a terminal that changes in its place and is gone at the end. Where standard error is
// no terminal it says nothing.
#pragma once
#include <chrono>
#include <cstdint>

namespace taskspec {

class FitProgress {
 public:
  FitProgress();
  ~FitProgress();
  FitProgress(const FitProgress&) = delete;
  FitProgress& operator=(const FitProgress&) = delete;
  // Before a row of an epoch; both from 0.
  void at(std::int64_t epoch, std::size_t row, std::size_t rows);

 private:
  using Clock = std::chrono::steady_clock;
  const bool shows_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  bool shown_ = false;
};

}  // namespace taskspec
