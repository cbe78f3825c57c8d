// The points of one view as loops need them: run by run, no run longer than a row where rows matter; whether a run lies
// in the view; which part of one does.
#pragma once
#include <algorithm>
#include <optional>

#include "interp/host/view/view_body.hpp"

namespace taskspec {

// `count` points from `start` on along the last axis; `linear` in the root.
struct RowRun {
  std::int64_t linear = 0, count = 0;
  std::int64_t number = 0;  // points before it
  Point start;
};

// Calls visit(RowRun) in order, until it says false.
template <class Visit>
bool each_run(const ViewMemory& view, bool by_rows, Visit&& visit) {
  const Rect& root = *view.root;
  const std::size_t last = root.rank == 0 ? 0 : root.rank - 1u;
  bool going = true;
  std::int64_t number = 0;
  auto row = [&](std::int64_t lo, std::int64_t hi) {
    if (going) going = visit(RowRun{lo, hi - lo, number, root.point(lo)});
    number += hi - lo;
  };
  auto run = [&](Run r) {
    if (!by_rows) return row(r.lo, r.hi);
    const std::int64_t width = root.extent(last);
    for (std::int64_t lo = r.lo; lo < r.hi && going;) {
      const std::int64_t end = std::min(r.hi, (lo / width + 1) * width);
      row(lo, end);
      lo = end;
    }
  };
  if (view.points->is_rect()) {
    view.points->runs(root, run);
  } else {
    for (const Run& r : view.points->intervals().runs()) {
      if (!going) break;
      run(r);
    }
  }
  return going;
}

// The point with so many points before it, and how many follow it in its run.
inline Run numbered(const ViewMemory& view, std::int64_t number) {
  const Rect& root = *view.root;
  if (!view.points->is_rect()) {
    const std::int64_t linear = view.points->intervals().nth(number);
    const std::span<const Run> runs = view.points->intervals().runs();
    auto behind = std::upper_bound(runs.begin(), runs.end(), linear,
                                   [](std::int64_t value, const Run& run) { return value < run.lo; });
    return {linear, (--behind)->hi};
  }
  const Rect& rect = view.points->rect();
  const Point point = rect.point(number);
  const std::int64_t linear = root.linear(point);
  return {linear, root.rank == 0 ? linear + 1 : linear + rect.hi[root.rank - 1u] - point[root.rank - 1u]};
}

// A place that moves through a view: it looks at the run it was in last first.
class ViewCursor {
 public:
  // The run of the view that has the point `linear` of the root, cut to its row where the view is a rectangle.
  std::optional<Run> run_of(const ViewMemory& view, std::int64_t linear) {
    if (linear >= last_.lo && linear < last_.hi) return last_;
    const Rect& root = *view.root;
    if (view.points->is_rect()) {
      if (linear < 0 || linear >= root.size()) return std::nullopt;
      const Point point = root.point(linear);
      const Rect& rect = view.points->rect();
      if (!rect.contains(point)) return std::nullopt;
      const std::size_t last = root.rank == 0 ? 0 : root.rank - 1u;
      const std::int64_t lo = linear - (point[last] - rect.lo[last]);
      return last_ = Run{lo, root.rank == 0 ? lo + 1 : lo + rect.extent(last)};
    }
    const std::span<const Run> runs = view.points->intervals().runs();
    const std::size_t behind = first_behind(runs, linear);
    if (behind == 0 || runs[behind - 1].hi <= linear) return std::nullopt;
    number_ = behind - 1;
    return last_ = runs[number_];
  }
  bool contains(const ViewMemory& view, std::int64_t linear) { return run_of(view, linear).has_value(); }
  // The points of a view of runs that stand before this one of its points.
  std::int64_t number_of(const ViewMemory& view, std::int64_t linear) {
    const Run run = *run_of(view, linear);
    if (run.lo != counted_) {
      counted_ = run.lo;
      before_ = view.points->intervals().rank_of(run.lo);
    }
    return before_ + linear - run.lo;
  }
  // The next run that begins behind `linear`, which is in none.
  static std::int64_t next_begin(const ViewMemory& view, std::int64_t linear) {
    const Rect& root = *view.root;
    if (view.points->is_rect()) {
      const Rect& rect = view.points->rect();
      if (linear < 0 || linear >= root.size() || root.rank == 0) return INT64_MAX;
      Point point = root.point(linear);
      const std::size_t last = root.rank - 1u;
      for (std::size_t axis = 0; axis < last; ++axis)
        if (point[axis] < rect.lo[axis] || point[axis] >= rect.hi[axis]) return INT64_MAX;
      return point[last] < rect.lo[last] ? linear + (rect.lo[last] - point[last]) : INT64_MAX;
    }
    const std::span<const Run> runs = view.points->intervals().runs();
    auto behind = std::upper_bound(runs.begin(), runs.end(), linear,
                                   [](std::int64_t value, const Run& run) { return value < run.lo; });
    return behind == runs.end() ? INT64_MAX : behind->lo;
  }

 private:
  // The number of the first run that begins behind `linear`. Places mostly ascend: the next ones are looked at first.
  std::size_t first_behind(std::span<const Run> runs, std::int64_t linear) const {
    if (number_ < runs.size() && runs[number_].lo <= linear)
      for (std::size_t k = number_ + 1; k <= number_ + 4; ++k)
        if (k == runs.size() || runs[k].lo > linear) return k;
    return static_cast<std::size_t>(
        std::upper_bound(runs.begin(), runs.end(), linear,
                         [](std::int64_t value, const Run& run) { return value < run.lo; }) -
        runs.begin());
  }

  Run last_{0, 0};
  std::int64_t counted_ = -1, before_ = 0;  // points before the run that begins there
  std::size_t number_ = 0;                  // of that run
};

}  // namespace taskspec
