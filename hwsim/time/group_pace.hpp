// How far apart a group of cores began its last items: while groups differ, some buffer between them fills or runs
// empty.
//
//   pace.began(now);  ...  pace.is(distance)      the last four began so far apart, one after the other
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace taskspec {

class GroupPace {
 public:
  void began(std::int64_t at) {
    std::shift_right(starts_.begin(), starts_.end(), 1);
    starts_[0] = at;
    ++items_;
  }
  bool is(std::int64_t distance) const {
    if (items_ < starts_.size()) return false;
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
      if (starts_[i] - starts_[i + 1] != distance) return false;
    return true;
  }

 private:
  std::array<std::int64_t, 4> starts_ = {};  // the newest first
  std::size_t items_ = 0;
};

}  // namespace taskspec
