#include "ir/region/packed_places.hpp"

#include <bit>
#include <string>

#include "ir/base/diag.hpp"
#include "ir/base/large_vector.hpp"

namespace taskspec {

PackedPlaces::PackedPlaces(Intervals held) : held_(std::move(held)) {
  if (held_.empty()) bug("elements are packed, and there are none");
  runs_.reserve(held_.runs().size());
  std::int64_t before = 0;
  for (const Run& run : held_.runs()) {
    runs_.push_back({run.lo, run.hi, run.lo - before});
    before += run.size();
  }
  first_ = runs_.front().lo;
  end_ = runs_.back().hi;
  // About one run for each bucket.
  const auto range = static_cast<std::uint64_t>(end_ - first_);
  shift_ = static_cast<std::uint32_t>(std::bit_width(range / runs_.size()));
  buckets_.resize((range >> shift_) + 1);
  std::uint32_t run = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    const std::int64_t begin = first_ + static_cast<std::int64_t>(bucket << shift_);
    while (run + 1 < runs_.size() && runs_[run].hi <= begin) ++run;
    buckets_[bucket] = run;
  }
}

void PackedPlaces::not_held(std::int64_t index) {
  bug("element " + std::to_string(index) + " of a field has no memory here");
}

// Pages are what memory is made of: those that these elements touch where each lies at its index, against those that
// they fill.
bool PackedPlaces::pays(const Intervals& held, std::int64_t elements, std::size_t width) {
  constexpr std::size_t small_page = 4096;
  if (held.empty()) return false;
  const std::size_t all = static_cast<std::size_t>(elements) * width;
  const auto page = static_cast<std::int64_t>((all >= huge_page ? huge_page : small_page) / width);
  std::int64_t touched = 0, next = 0;  // pages; the first that is not counted yet
  for (const Run& run : held.runs()) {
    const std::int64_t begin = std::max(next, run.lo / page), end = (run.hi - 1) / page + 1;
    touched += std::max(end - begin, std::int64_t{0});
    next = std::max(next, end);
  }
  const std::int64_t filled = (held.size() - 1) / page + 1;
  return touched > 2 * filled && static_cast<std::size_t>((touched - filled) * page) * width >= least_saved;
}

}  // namespace taskspec
