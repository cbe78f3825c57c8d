#include "ir/region/space.hpp"

#include <algorithm>

namespace taskspec {
namespace {

// Runs become rectangles row by row; one that continues a rectangle of the row before makes it longer.
class RectMaker {
 public:
  RectMaker(const Rect& root, FunctionRef<void(const Rect&)> visit) : root_(root), visit_(visit) {}

  void add(Run run) { cut(run, root_.rank, {{}, {}, root_.rank}); }
  void finish() {
    for (const Rect& rect : open_) visit_(rect);
  }

 private:
  // `made` has the axes from `rank` on; the run counts points of those before them.
  void cut(Run run, std::uint8_t rank, Rect made) {
    if (run.lo >= run.hi) return;
    const std::size_t axis = rank - 1u;
    if (rank == 1) {
      made.lo[0] = run.lo;
      made.hi[0] = run.hi;
      return close(made);
    }
    const std::int64_t length = root_.extent(axis), row = run.lo / length, last_row = (run.hi - 1) / length;
    auto columns = [&](std::int64_t lo, std::int64_t hi) {
      Rect part = made;
      part.lo[axis] = lo;
      part.hi[axis] = hi;
      return part;
    };
    const std::int64_t begin = run.lo % length, end = (run.hi - 1) % length + 1;
    if (row == last_row) return cut({row, row + 1}, rank - 1, columns(begin, end));
    const std::int64_t whole = begin ? row + 1 : row, behind = end < length ? last_row : last_row + 1;
    if (begin) cut({row, row + 1}, rank - 1, columns(begin, length));
    cut({whole, behind}, rank - 1, columns(0, length));
    if (end < length) cut({last_row, last_row + 1}, rank - 1, columns(0, end));
  }

  void close(const Rect& rect) {
    if (root_.rank == 1) return visit_(rect);
    const std::size_t axis = root_.rank - 2u;
    for (Rect& open : open_) {
      Rect longer = open;
      longer.hi[axis] = rect.hi[axis];
      Rect here = rect;
      here.lo[axis] = open.lo[axis];
      if (open.hi[axis] == rect.lo[axis] && longer == here) {
        open = longer;
        return;
      }
    }
    if (open_.size() == most_open) {
      visit_(open_.front());
      open_.erase(open_.begin());
    }
    open_.push_back(rect);
  }

  static constexpr std::size_t most_open = 8;
  const Rect& root_;
  FunctionRef<void(const Rect&)> visit_;
  std::vector<Rect> open_;
};

std::int64_t run_count(const Rect& root, const Rect& rect) {
  std::size_t axis = rect.rank;
  while (axis > 0 && rect.lo[axis - 1] == 0 && rect.hi[axis - 1] == root.hi[axis - 1]) --axis;
  Rect outer = rect;
  outer.rank = static_cast<std::uint8_t>(axis > 0 ? axis - 1 : 0);
  return outer.size();
}

// Is it cheaper to take the rectangle row by row, or the runs as rectangles?
bool by_rows(const Rect& root, const Rect& rect, const Intervals& intervals) {
  return run_count(root, rect) <= 16 * static_cast<std::int64_t>(intervals.runs().size());
}

Intervals intersect_mixed(const Rect& root, const Rect& rect, const IndexSpace& runs) {
  if (by_rows(root, rect, runs.intervals())) return IndexSpace(rect).as_intervals(root) & runs.intervals();
  std::vector<Run> both;
  runs.rects(root, [&](const Rect& part) {
    IndexSpace(intersect(part, rect)).runs(root, [&](Run run) { both.push_back(run); });
  });
  return Intervals::of(std::move(both));
}

// The rectangle that is left of `a`, if it is one.
std::optional<Rect> rect_left(const Rect& a, const Rect& b) {
  std::size_t cut = a.rank;
  for (std::size_t axis = 0; axis < a.rank; ++axis) {
    if (b.lo[axis] <= a.lo[axis] && b.hi[axis] >= a.hi[axis]) continue;
    if (cut < a.rank) return std::nullopt;
    cut = axis;
  }
  Rect left = a;
  if (cut == a.rank)
    left.hi = left.lo;
  else if (b.lo[cut] <= a.lo[cut])
    left.lo[cut] = b.hi[cut];
  else if (b.hi[cut] >= a.hi[cut])
    left.hi[cut] = b.lo[cut];
  else
    return std::nullopt;
  return left;
}

std::optional<Rect> rect_of_both(const Rect& a, const Rect& b) {
  std::size_t differs = a.rank;
  for (std::size_t axis = 0; axis < a.rank; ++axis) {
    if (a.lo[axis] == b.lo[axis] && a.hi[axis] == b.hi[axis]) continue;
    if (differs < a.rank) return std::nullopt;
    differs = axis;
  }
  if (differs == a.rank) return a;
  if (std::max(a.lo[differs], b.lo[differs]) > std::min(a.hi[differs], b.hi[differs])) return std::nullopt;
  Rect both = a;
  both.lo[differs] = std::min(a.lo[differs], b.lo[differs]);
  both.hi[differs] = std::max(a.hi[differs], b.hi[differs]);
  return both;
}

}  // namespace

IndexSpace::IndexSpace(const Rect& root, Intervals intervals) : rect_(root) {
  is_rect_ = intervals.runs().empty() || (root.rank == 1 && intervals.runs().size() == 1);
  if (intervals.empty()) {
    rect_.hi = rect_.lo;
    return;
  }
  rect_.lo[0] = root.point(intervals.runs().front().lo).at[0];
  rect_.hi[0] = root.point(intervals.runs().back().hi - 1).at[0] + 1;
  if (!is_rect_) intervals_ = std::move(intervals);
}

bool IndexSpace::contains(const Rect& root, std::int64_t linear) const {
  if (!is_rect_) return intervals_.contains(linear);
  if (linear < 0 || linear >= root.size()) return false;
  return rect_.rank == 1 ? linear >= rect_.lo[0] && linear < rect_.hi[0] : rect_.contains(root.point(linear));
}

bool IndexSpace::contains(const Rect& root, const Point& point) const {
  if (is_rect_) return rect_.contains(point);
  return root.contains(point) && intervals_.contains(root.linear(point));
}

void IndexSpace::runs(const Rect& root, FunctionRef<void(Run)> visit) const {
  if (!is_rect_) {
    for (const Run& run : intervals_.runs()) visit(run);
    return;
  }
  if (rect_.empty()) return;
  if (rect_.rank < 2) {
    const std::int64_t lo = rect_.rank ? rect_.lo[0] : 0;
    return visit({lo, rect_.rank ? rect_.hi[0] : 1});
  }
  std::size_t axis = rect_.rank;  // all axes from here on are whole
  std::int64_t length = 1;
  while (axis > 1 && rect_.lo[axis - 1] == 0 && rect_.hi[axis - 1] == root.hi[axis - 1]) length *= root.extent(--axis);
  --axis;
  length *= rect_.extent(axis);
  Rect outer = rect_;
  outer.rank = static_cast<std::uint8_t>(axis);
  each_point(outer, [&](const Point& begin) {
    Point first{begin.at, rect_.rank};
    for (std::size_t inner = axis; inner < rect_.rank; ++inner) first.at[inner] = rect_.lo[inner];
    const std::int64_t lo = root.linear(first);
    visit({lo, lo + length});
    return true;
  });
}

Intervals IndexSpace::as_intervals(const Rect& root) const {
  if (!is_rect_) return intervals_;
  std::vector<Run> all;
  runs(root, [&](Run run) { all.push_back(run); });
  return Intervals::of_sorted(std::move(all));
}

void IndexSpace::rects(const Rect& root, FunctionRef<void(const Rect&)> visit) const {
  if (is_rect_) {
    if (!rect_.empty()) visit(rect_);
    return;
  }
  RectMaker maker(root, visit);
  for (const Run& run : intervals_.runs()) maker.add(run);
  maker.finish();
}

Run IndexSpace::bounds(const Rect& root) const {
  if (empty()) return {0, 0};
  if (!is_rect_) return {intervals_.runs().front().lo, intervals_.runs().back().hi};
  Point last{rect_.hi, rect_.rank};
  for (std::size_t axis = 0; axis < rect_.rank; ++axis) --last.at[axis];
  return {root.linear({rect_.lo, rect_.rank}), root.linear(last) + 1};
}

IndexSpace intersect(const Rect& root, const IndexSpace& a, const IndexSpace& b) {
  if (a.is_rect() && b.is_rect()) return intersect(a.rect(), b.rect());
  if (!meet(a.rect(), b.rect())) return {root, Intervals()};
  if (a.is_rect()) return {root, intersect_mixed(root, a.rect(), b)};
  if (b.is_rect()) return {root, intersect_mixed(root, b.rect(), a)};
  return {root, a.intervals() & b.intervals()};
}

IndexSpace unite(const Rect& root, const IndexSpace& a, const IndexSpace& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.is_rect() && b.is_rect()) {
    if (a.rect().contains(b.rect())) return a;
    if (b.rect().contains(a.rect())) return b;
    if (const auto both = rect_of_both(a.rect(), b.rect())) return *both;
  }
  return {root, a.as_intervals(root) | b.as_intervals(root)};
}

IndexSpace subtract(const Rect& root, const IndexSpace& a, const IndexSpace& b) {
  if (a.empty() || b.empty() || !meet(a.rect(), b.rect())) return a;
  if (a.is_rect() && b.is_rect())
    if (const auto left = rect_left(a.rect(), b.rect())) return *left;
  return {root, a.as_intervals(root) - intersect(root, a, b).as_intervals(root)};
}

std::optional<Point> common_point(const Rect& root, const IndexSpace& a, const IndexSpace& b) {
  if (a.empty() || b.empty() || !meet(a.rect(), b.rect())) return std::nullopt;
  if (a.is_rect() && b.is_rect()) return Point{intersect(a.rect(), b.rect()).lo, a.rect().rank};
  if (a.is_rect() || b.is_rect()) return first_point(root, intersect(root, a, b));
  const auto index = common_point(a.intervals(), b.intervals());
  if (!index) return std::nullopt;
  return root.point(*index);
}

bool meet(const Rect& root, const IndexSpace& a, const IndexSpace& b) { return common_point(root, a, b).has_value(); }

bool includes(const Rect& root, const IndexSpace& outer, const IndexSpace& inner) {
  if (inner.empty()) return true;
  if (outer.is_rect() && outer.rect().contains(inner.rect())) return true;
  if (outer.is_rect() && inner.is_rect()) return false;
  return intersect(root, outer, inner).size() == inner.size();
}

bool equal(const Rect& root, const IndexSpace& a, const IndexSpace& b) {
  return a.size() == b.size() && includes(root, a, b);
}

std::optional<Point> first_point(const Rect& root, const IndexSpace& a) {
  if (a.empty()) return std::nullopt;
  if (a.is_rect()) return Point{a.rect().lo, a.rect().rank};
  return root.point(a.intervals().runs().front().lo);
}

}  // namespace taskspec
