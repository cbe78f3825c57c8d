// Scratch for parts of a kernel's work that run at the same time. A part takes the lowest room that is free, so that
// what runs on one thread uses the same one again and again, which is still in its cache then. No result depends on
// rooms.
//
//   ScratchSlots slots(lanes);
//   args.parallel.for_each(lanes, 1, [&](auto begin, auto) {
//     slots.with([&](std::int64_t slot) { work(args.scratch + slot * bytes); });
//   });
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

namespace taskspec {

class ScratchSlots {
 public:
  static constexpr std::int64_t most = 64;
  explicit ScratchSlots(std::int64_t count)  // as many as there are parts
      : free_(count >= most ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) {}

  template <class F>
  void with(F&& f) {
    std::uint64_t free = free_.load();
    while (!free_.compare_exchange_weak(free, free & (free - 1)))
      ;
    const std::uint64_t own = free & (~free + 1);
    f(static_cast<std::int64_t>(std::countr_zero(own)));
    free_.fetch_or(own);
  }

 private:
  std::atomic<std::uint64_t> free_;
};

}  // namespace taskspec
