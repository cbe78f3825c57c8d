// Sets of points as sorted, merged, half-open runs over the row-major index of a root region. Immutable and shared:
// a copy costs no memory.
//
//   Intervals a = Intervals::of({{0, 4}, {4, 6}, {9, 12}});    // two runs: 0..6, 9..12
//   a.rank_of(10) == 7;   a.nth(7) == 10;   (a & Intervals::of({{5, 10}})).size() == 2
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace taskspec {

struct Run {
  std::int64_t lo = 0, hi = 0;
  std::int64_t size() const { return hi - lo; }
  friend bool operator==(const Run&, const Run&) = default;
};

class Intervals {
 public:
  Intervals() = default;
  static Intervals of(std::vector<Run> runs);         // in any order, overlapping, empty ones too
  static Intervals of_sorted(std::vector<Run> runs);  // ascending by lo; neighbours are merged

  std::span<const Run> runs() const { return data_ ? std::span<const Run>(data_->runs) : std::span<const Run>(); }
  std::int64_t size() const { return data_ ? data_->before.back() : 0; }
  bool empty() const { return !data_; }
  bool contains(std::int64_t index) const;
  // The points before `index`, whether it is one or not, in O(log runs); and the point with `count` before it.
  std::int64_t rank_of(std::int64_t index) const;
  std::int64_t nth(std::int64_t count) const;
  Intervals ranked(std::int64_t from, std::int64_t to) const;  // the points number from..to

  // One merge, in O(m + n); galloping where one side has 16 times the runs of the other one.
  friend Intervals operator&(const Intervals& a, const Intervals& b);
  friend Intervals operator|(const Intervals& a, const Intervals& b);
  friend Intervals operator-(const Intervals& a, const Intervals& b);
  friend bool operator==(const Intervals& a, const Intervals& b);

 private:
  struct Data {
    std::vector<Run> runs;             // never empty
    std::vector<std::int64_t> before;  // points before each run, then of all
  };
  explicit Intervals(std::vector<Run> merged);
  std::shared_ptr<const Data> data_;  // null: no points
};

// The smallest point that both have; none if they have none. Galloping, as above.
std::optional<std::int64_t> common_point(const Intervals& a, const Intervals& b);

}  // namespace taskspec
