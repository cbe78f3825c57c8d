// How far apart a group of cores began its last items: while groups differ, some buffer between them fills or runs
// empty.
//
//   pace.began(now);  ...  pace.is(distance, frames)      each of the last ones began so far behind the one `frames`
//   before
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
  // Over three turns of so many frames, 8 at most.
  bool is(std::int64_t distance, std::int64_t frames) const {
    const auto behind = static_cast<std::size_t>(frames), needed = 4 * behind;
    if (items_ < needed || needed > starts_.size()) return false;
    for (std::size_t i = 0; i + behind < needed; ++i)
      if (starts_[i] - starts_[i + behind] != distance) return false;
    return true;
  }

 private:
  std::array<std::int64_t, 32> starts_ = {};  // the newest first
  std::size_t items_ = 0;
};

}  // namespace taskspec
