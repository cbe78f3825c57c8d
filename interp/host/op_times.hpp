// What the ops that a worker runs take, where somebody asked for it: one record for each op of each call. To look at
// the clock changes nothing else: the same ops run in the same order on the same bytes.
#pragma once
#include <chrono>
#include <vector>

#include "ir/plan/backend.hpp"

namespace taskspec {

class OpTimes {
 public:
  using Clock = std::chrono::steady_clock;

  // What follows is of a code whose tasks these are.
  void begin(const PlanTask* tasks) { tasks_ = tasks; }
  void add(std::uint32_t task, std::uint32_t index, std::int64_t ns) {
    records_.push_back({tasks_[task].node, index, ns});
  }
  void add(std::uint32_t task, std::uint32_t index, Clock::duration time) {
    add(task, index, std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }
  void clear() { records_.clear(); }
  const std::vector<OpRecord>& records() const { return records_; }

 private:
  const PlanTask* tasks_ = nullptr;
  std::vector<OpRecord> records_;
};

}  // namespace taskspec
