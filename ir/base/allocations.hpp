// What is asked of memory on this thread: how often, and for how many bytes. Counted by programs that say so, as the
// tool does (interp/cli/counted_new.cpp); in others it stays zero.
//
//   AllocationMeter meter;
//   { const AllocationMeter::Part here(meter); ... }      // until it goes
//   meter.sum().number
#pragma once
#include <cstdint>

namespace taskspec {

struct Allocations {
  std::uint64_t number = 0, bytes = 0;
};

inline constinit thread_local Allocations allocations_here;

class AllocationMeter {
 public:
  // A part that counts, or one inside of it that does not; on one thread from its beginning to its end.
  class Part {
   public:
    explicit Part(AllocationMeter& meter, bool counts = true) : meter_(meter), before_(meter.is_on_) {
      meter_.turn(counts);
    }
    ~Part() { meter_.turn(before_); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    AllocationMeter& meter_;
    const bool before_;
  };
  const Allocations& sum() const { return sum_; }

 private:
  void turn(bool on) {
    if (on == is_on_) return;
    is_on_ = on;
    if (on) {
      begin_ = allocations_here;
    } else {
      sum_.number += allocations_here.number - begin_.number;
      sum_.bytes += allocations_here.bytes - begin_.bytes;
    }
  }
  bool is_on_ = false;
  Allocations begin_, sum_;
};

}  // namespace taskspec
