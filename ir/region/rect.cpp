#include "ir/region/rect.hpp"

#include <algorithm>

namespace taskspec {
namespace {

// Between 0 and INT64_MAX, for ends that may be anything.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

std::string Point::index() const {
  std::string made;
  for (std::size_t axis = 0; axis < rank; ++axis) made += (axis ? ", " : "") + std::to_string(at[axis]);
  return made;
}

std::string Point::text() const { return rank == 1 ? index() : "(" + index() + ")"; }

Rect Rect::of(std::span<const std::int64_t> extents) {
  Rect rect;
  rect.rank = static_cast<std::uint8_t>(extents.size());
  std::copy_n(extents.begin(), std::min<std::size_t>(extents.size(), highest_rank), rect.hi.begin());
  return rect;
}

Rect Rect::at(const Point& point) {
  Rect rect{point.at, point.at, point.rank};
  for (std::size_t axis = 0; axis < rect.rank; ++axis) ++rect.hi[axis];
  return rect;
}

bool Rect::empty() const {
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (hi[axis] <= lo[axis]) return true;
  return false;
}

std::int64_t Rect::size() const {
  if (empty()) return 0;
  std::int64_t points = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) points = times(points, extent(axis));
  return points;
}

bool Rect::contains(const Point& point) const {
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (point.at[axis] < lo[axis] || point.at[axis] >= hi[axis]) return false;
  return point.rank == rank;
}

bool Rect::contains(const Rect& other) const {
  if (other.empty()) return true;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (other.lo[axis] < lo[axis] || other.hi[axis] > hi[axis]) return false;
  return true;
}

std::int64_t Rect::linear(const Point& point) const {
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) index = index * extent(axis) + point.at[axis] - lo[axis];
  return index;
}

Point Rect::point(std::int64_t linear) const {
  Point made{{}, rank};
  for (std::size_t axis = rank; axis-- > 0;) {
    made.at[axis] = lo[axis] + linear % extent(axis);
    linear /= extent(axis);
  }
  return made;
}

std::string Rect::text() const {
  std::string made;
  for (std::size_t axis = 0; axis < rank; ++axis)
    made += (axis ? ", " : "") + std::to_string(lo[axis]) + ".." + std::to_string(hi[axis]);
  return rank == 1 ? made : "(" + made + ")";
}

std::string Rect::extents() const {
  std::string made = "[";
  for (std::size_t axis = 0; axis < rank; ++axis) made += (axis ? ", " : "") + std::to_string(extent(axis));
  return made + "]";
}

Rect intersect(const Rect& a, const Rect& b) {
  Rect both{{}, {}, a.rank};
  for (std::size_t axis = 0; axis < a.rank; ++axis) {
    both.lo[axis] = std::max(a.lo[axis], b.lo[axis]);
    both.hi[axis] = std::max(both.lo[axis], std::min(a.hi[axis], b.hi[axis]));
  }
  return both;
}

bool meet(const Rect& a, const Rect& b) {
  for (std::size_t axis = 0; axis < a.rank; ++axis)
    if (std::max(a.lo[axis], b.lo[axis]) >= std::min(a.hi[axis], b.hi[axis])) return false;
  return true;
}

}  // namespace taskspec
