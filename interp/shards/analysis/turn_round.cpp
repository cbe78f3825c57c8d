#include "interp/shards/analysis/turn_round.hpp"

#include <algorithm>

namespace taskspec {

std::optional<Rect> points_of_colour(const Projection& f, const Rect& domain, const Point& colour) {
  if (f.kind == Projection::Kind::function) return std::nullopt;
  Rect found = domain;
  auto nothing = [&] {
    found.hi = found.lo;
    return found;
  };
  for (std::size_t row = 0; row < f.out; ++row) {
    std::optional<std::size_t> axis_of_row;
    for (std::size_t axis = 0; axis < f.in; ++axis)
      if (f.factors[row][axis] != 0) {
        if (axis_of_row) return std::nullopt;
        axis_of_row = axis;
      }
    const std::int64_t rest = colour.at[row] - f.offsets[row];
    if (!axis_of_row) {
      if (rest != 0) return nothing();
      continue;
    }
    const std::int64_t factor = f.factors[row][*axis_of_row];
    if (rest % factor != 0) return nothing();
    const std::int64_t at = rest / factor;
    found.lo[*axis_of_row] = std::max(found.lo[*axis_of_row], at);
    found.hi[*axis_of_row] = std::min(found.hi[*axis_of_row], at + 1);
  }
  return found.empty() ? nothing() : found;
}

bool can_turn_round(const Projection& f, const Rect& domain) {
  return domain.empty() || points_of_colour(f, domain, f(Point{domain.lo, domain.rank})).has_value();
}

}  // namespace taskspec
