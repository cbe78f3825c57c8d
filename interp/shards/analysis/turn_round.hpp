// Projections turned round: the points of a launch that take one colour.
//
//   points_of_colour(Projection::identity(1), Rect::of({8}), Point::of(3))        // 3..4
#pragma once
#include <optional>

#include "ir/region/projection.hpp"

namespace taskspec {

// A rectangle, where each coordinate of the colour depends on one axis at most. None where the normal form does not
// tell.
std::optional<Rect> points_of_colour(const Projection& f, const Rect& domain, const Point& colour);
bool can_turn_round(const Projection& f, const Rect& domain);

}  // namespace taskspec
