// The points of a region or of a piece: a rectangle as long as no operator leaves that form, else runs over the
// row-major index of the root. Every function that needs it is handed the extents of the root.
//
//   IndexSpace(Rect{{2}, {5}, 1}).runs(root, [&](Run run) { ... });   // 2..5
#pragma once
#include "ir/base/function_ref.hpp"
#include "ir/region/intervals.hpp"
#include "ir/region/rect.hpp"

namespace taskspec {

class IndexSpace {
 public:
  IndexSpace() : rect_(Rect::of({0})) {}
  IndexSpace(const Rect& rect) : rect_(rect) {}
  // A single run of a root of rank 1 becomes the rectangle it is.
  IndexSpace(const Rect& root, Intervals intervals);

  bool is_rect() const { return is_rect_; }
  const Rect& rect() const { return rect_; }  // of intervals: a rectangle around all of them
  const Intervals& intervals() const { return intervals_; }
  bool empty() const { return is_rect_ ? rect_.empty() : intervals_.empty(); }
  std::int64_t size() const { return is_rect_ ? rect_.size() : intervals_.size(); }
  bool contains(const Rect& root, std::int64_t linear) const;
  bool contains(const Rect& root, const Point& point) const;

  // Ascending, merged where they touch: a rectangle over whole rows is one run.
  void runs(const Rect& root, FunctionRef<void(Run)> visit) const;
  Intervals as_intervals(const Rect& root) const;
  // Rectangles that together are this space, none twice; runs of equal columns in neighbouring rows are one.
  void rects(const Rect& root, FunctionRef<void(const Rect&)> visit) const;
  Run bounds(const Rect& root) const;  // from the first point to behind the last one; {0, 0} if there are none

 private:
  Rect rect_;
  Intervals intervals_;
  bool is_rect_ = true;
};

// Of one root.
IndexSpace intersect(const Rect& root, const IndexSpace& a, const IndexSpace& b);
IndexSpace unite(const Rect& root, const IndexSpace& a, const IndexSpace& b);
IndexSpace subtract(const Rect& root, const IndexSpace& a, const IndexSpace& b);
bool meet(const Rect& root, const IndexSpace& a, const IndexSpace& b);
bool includes(const Rect& root, const IndexSpace& outer, const IndexSpace& inner);
bool equal(const Rect& root, const IndexSpace& a, const IndexSpace& b);  // the same points, in whatever form
std::optional<Point> common_point(const Rect& root, const IndexSpace& a, const IndexSpace& b);  // the first one
std::optional<Point> first_point(const Rect& root, const IndexSpace& a);

}  // namespace taskspec
