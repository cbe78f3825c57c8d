// Rectangles of points, half open, to rank 4; their points in row-major order.
//
//   Rect::of({8, 8}).linear(Point::of(1, 2)) == 10
//   intersect(Rect::of({8}), {{2}, {12}, 1}) == Rect{{2}, {8}, 1}
#pragma once
#include <initializer_list>
#include <span>

#include "ir/region/point.hpp"

namespace taskspec {

struct Rect {
  std::array<std::int64_t, highest_rank> lo{}, hi{};
  std::uint8_t rank = 1;

  static Rect of(std::span<const std::int64_t> extents);  // from 0; a rank above 4 is kept, for whoever refuses it
  static Rect of(std::initializer_list<std::int64_t> extents) { return of({extents.begin(), extents.size()}); }
  static Rect at(const Point& point);  // that one point

  std::int64_t extent(std::size_t axis) const { return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0; }
  bool empty() const;
  std::int64_t size() const;  // points; at most INT64_MAX is said. Rank 0 has one
  bool contains(const Point& point) const;
  bool contains(const Rect& other) const;  // an empty one is in each
  std::int64_t linear(const Point& point) const;
  Point point(std::int64_t linear) const;
  std::string text() const;     // "0..8", "(0..8, 2..4)"
  std::string extents() const;  // "[8, 2]"
  friend bool operator==(const Rect&, const Rect&) = default;
};

Rect intersect(const Rect& a, const Rect& b);
bool meet(const Rect& a, const Rect& b);  // have a point in common

// All points in row-major order, until `visit` says false.
template <class Visit>
bool each_point(const Rect& rect, Visit visit) {
  if (rect.empty()) return true;
  Point point{rect.lo, rect.rank};
  for (;;) {
    if (!visit(static_cast<const Point&>(point))) return false;
    std::size_t axis = rect.rank;
    for (; axis-- > 0;) {
      if (++point.at[axis] < rect.hi[axis]) break;
      point.at[axis] = rect.lo[axis];
    }
    if (axis == static_cast<std::size_t>(-1)) return true;
  }
}

}  // namespace taskspec
