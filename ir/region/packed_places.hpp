// Where elements of a field lie in memory that has room for some of them alone, one behind the other: what a shard
// takes of a region whose other elements it never touches.
//
//   PackedPlaces packed(Intervals::of({{3, 5}, {900, 901}}));
//   packed.place(4) == 1;   packed.place(900) == 2;   packed.find(7) == -1;
//
// Elements that follow one another in the region do so here.
#pragma once
#include <memory>
#include <vector>

#include "ir/region/intervals.hpp"

namespace taskspec {

class PackedPlaces {
 public:
  explicit PackedPlaces(Intervals held);
  PackedPlaces(const PackedPlaces&) = delete;

  const Intervals& held() const { return held_; }
  // Of an element by its row-major index in the region; -1: it is not held. O(1) where runs lie about as dense
  // everywhere.
  std::int64_t find(std::int64_t index) const {
    if (index < first_ || index >= end_) return -1;
    const Moved* run = &runs_[buckets_[static_cast<std::size_t>(index - first_) >> shift_]];
    while (run->hi <= index) ++run;
    return index >= run->lo ? index - run->by : -1;
  }
  std::int64_t place(std::int64_t index) const {  // bug() where it is not held
    const std::int64_t found = find(index);
    if (found < 0) not_held(index);
    return found;
  }

  static constexpr std::size_t least_saved = std::size_t{1} << 20;  // bytes
  // Whether memory of these elements alone is worth it: of elements of so many bytes, in a region of so many.
  static bool pays(const Intervals& held, std::int64_t elements, std::size_t width);

 private:
  struct Moved {
    std::int64_t lo = 0, hi = 0, by = 0;  // a run, and how far in front of their index its elements lie
  };
  [[noreturn]] static void not_held(std::int64_t index);
  const Intervals held_;
  std::vector<Moved> runs_;
  std::vector<std::uint32_t> buckets_;  // by equal parts of [first_, end_): the first run that ends in it, or behind
  std::int64_t first_ = 0, end_ = 0;
  std::uint32_t shift_ = 0;
};

// Which elements of a region have memory in a program. It changes between runs; plans that were made before stay.
struct FieldRoom {
  std::uint32_t number = 0;                    // another one has another
  std::shared_ptr<const PackedPlaces> packed;  // null: all of them, each at its index
};

// Null: each lies at its index.
inline std::int64_t place_in(const PackedPlaces* packed, std::int64_t index) {
  return packed ? packed->place(index) : index;
}

}  // namespace taskspec
