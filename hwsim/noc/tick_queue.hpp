// What happens at which tick: a wheel of slots for the near future, a heap for the far one. In constant time where
// events lie close together, as packets do.
//
//   queue.push(at, item);                      // at >= the tick that was taken last
//   while (queue.next() <= until) { const std::int64_t at = queue.next(); for (Item& item : queue.take(at)) ... }
//
// Items of one tick come in no particular order. While those of a tick are worked on, more may be pushed for it: they
// are taken next.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace taskspec {

template <class Item>
class TickQueue {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  void push(std::int64_t at, const Item& item) {
    next_ = std::min(next_, at);
    if (at - start_ >= slot_count) {
      far_.push_back({at, item});
      std::push_heap(far_.begin(), far_.end(), Far::later);
    } else {
      put(at, item);
    }
  }

  std::int64_t next() const { return next_; }

  // All items of the tick, which must be `next()` or before it. Good until the next call.
  std::vector<Item>& take(std::int64_t at) {
    taken_.clear();
    start_ = at;
    while (!far_.empty() && far_.front().at - start_ < slot_count) {
      put(far_.front().at, far_.front().item);
      std::pop_heap(far_.begin(), far_.end(), Far::later);
      far_.pop_back();
    }
    const std::size_t slot = static_cast<std::size_t>(at) % slot_count;
    taken_.swap(slots_[slot]);
    used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
    next_ = find_next();
    return taken_;
  }

 private:
  static constexpr std::int64_t slot_count = 1024;
  static constexpr std::size_t words = slot_count / 64;

  struct Far {
    std::int64_t at;
    Item item;
    static bool later(const Far& a, const Far& b) { return a.at > b.at; }
  };

  void put(std::int64_t at, const Item& item) {
    const std::size_t slot = static_cast<std::size_t>(at) % slot_count;
    slots_[slot].push_back(item);
    used_[slot / 64] |= std::uint64_t{1} << slot % 64;
  }

  std::int64_t find_next() const {
    const std::size_t first = static_cast<std::size_t>(start_) % slot_count;
    for (std::size_t i = 0; i <= words; ++i) {
      const std::size_t word = (first / 64 + i) % words;
      std::uint64_t bits = used_[word];
      if (i == 0) bits &= ~std::uint64_t{0} << first % 64;
      if (i == words) bits &= ~(~std::uint64_t{0} << first % 64);
      if (bits == 0) continue;
      const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      return start_ + static_cast<std::int64_t>((slot + slot_count - first) % slot_count);
    }
    return far_.empty() ? never : far_.front().at;
  }

  std::int64_t start_ = 0, next_ = never;  // all in slots lie in [start_, start_ + slot_count)
  std::array<std::vector<Item>, slot_count> slots_;
  std::array<std::uint64_t, words> used_{};
  std::vector<Far> far_;
  std::vector<Item> taken_;
};

}  // namespace taskspec
