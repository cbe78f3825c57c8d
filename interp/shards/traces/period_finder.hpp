// Finds that a sequence of calls has begun to repeat itself: O(1) for each, whatever the length of the period.
//
//   PeriodFinder finder;
//   if (finder.feed(token, true)) ...       // two equal periods have just ended: finder.period() calls each
//
// The candidate is the distance to the last call of the same token; it stands as long as each call equals the one a
// period before. 4,096 calls are remembered.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace taskspec {

class PeriodFinder {
 public:
  static constexpr std::size_t remembered = 4096;

  PeriodFinder() : calls_(remembered), table_(2 * remembered) {}

  // `is_launch`: of those of which a period to be recorded needs two.
  bool feed(std::uint64_t token, bool is_launch);
  void reset();

  std::size_t period() const { return period_; }
  bool broke() const { return broke_; }  // the last call ended a candidate
  // The smallest multiple of the period with at least two launches; 0: there are none, or it would be too long.
  std::size_t turn() const;
  std::uint64_t token(std::size_t back) const { return calls_[(count_ - back) % remembered].token; }  // 1: the last

 private:
  struct Call {
    std::uint64_t token = 0;
    std::uint64_t launches = 0;  // up to this one
  };
  struct Slot {
    std::uint64_t token = 0, position = 0;  // 0: none
  };
  static constexpr std::size_t probes = 8;
  Slot& slot(std::uint64_t token);  // of the token, or the one that it may have

  std::vector<Call> calls_;
  std::vector<Slot> table_;
  std::uint64_t count_ = 0, from_ = 0, launches_ = 0;
  std::size_t period_ = 0, matched_ = 0;
  bool broke_ = false;
};

}  // namespace taskspec
