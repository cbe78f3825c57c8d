// Runs of pieces by where they lie: which colours have something between two points.
//
//   RunIndex index({{{0, 4}, 2}, {{3, 9}, 0}});      // piece 2 has 0..4, piece 0 has 3..9
//   index.each_between({3, 5}, visit);               // both
#pragma once
#include <cstdint>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/region/space.hpp"

namespace taskspec {

struct ColourRun {
  Run run;
  std::int64_t colour = 0;  // its number
};

class RunIndex {
 public:
  RunIndex() = default;
  explicit RunIndex(std::vector<ColourRun> runs);  // in any order; of one piece they do not overlap

  // Every run that has a point between, ascending by where they begin, until `visit` says false.
  bool each_between(Run near, FunctionRef<bool(const ColourRun&)> visit) const;
  // Likewise, each cut to the points of the set.
  void each_in(const Intervals& set, FunctionRef<void(const ColourRun&)> visit) const;

  std::span<const ColourRun> runs() const { return runs_; }
  std::int64_t elements() const { return elements_; }  // of all runs together
  std::int64_t covered() const { return covered_; }    // points that some run has
  std::size_t bytes() const { return runs_.capacity() * sizeof(ColourRun) + reach_.capacity() * sizeof(std::int64_t); }

 private:
  std::vector<ColourRun> runs_;      // ascending by where they begin
  std::vector<std::int64_t> reach_;  // where the runs up to this one end at the latest
  std::int64_t elements_ = 0, covered_ = 0;
};

// The points of each colour that has some, by colour.
void visit_by_colour(const Rect& root, const Rect& colours, std::vector<ColourRun> runs,
                     FunctionRef<void(const Point& colour, const IndexSpace& part)> visit);

}  // namespace taskspec
