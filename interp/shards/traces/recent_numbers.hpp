// Numbers of the last operations, side by side: what stands so many operations back. Takes no memory after the first
// thousands.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace taskspec {

class RecentNumbers {
 public:
  static constexpr std::size_t reach = 4096;

  RecentNumbers() : numbers_(reach) { numbers_.reserve(4 * reach); }

  void push(std::uint64_t number) {
    if (numbers_.size() == 4 * reach) numbers_.erase(numbers_.begin(), numbers_.end() - reach);
    numbers_.push_back(number);
  }
  // The last `count` of them without the very last `skip`; zeros before the first one. Valid until the next push.
  std::span<const std::uint64_t> last(std::size_t count, std::size_t skip = 0) const {
    return std::span(numbers_).subspan(numbers_.size() - count - skip, count);
  }

 private:
  std::vector<std::uint64_t> numbers_;
};

}  // namespace taskspec
