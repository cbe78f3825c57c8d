// Lets one allocation of the test executable fail: the n-th from now, on whatever thread it is made.
//
//   for (std::int64_t n = 1;; ++n) {
//     FailingMemory memory(n);
//     ...                              // operator new throws std::bad_alloc once
//     if (!memory.failed()) break;     // there were fewer than n
//   }
#pragma once
#include <cstdint>

class FailingMemory {
 public:
  explicit FailingMemory(std::int64_t nth);
  FailingMemory(const FailingMemory&) = delete;
  ~FailingMemory() { stop(); }
  void stop();
  bool failed() const;
  std::int64_t counted() const;  // allocations so far

 private:
  const std::int64_t nth_;
};
