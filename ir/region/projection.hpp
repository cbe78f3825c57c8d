// Which piece a point of a launch takes: the normal form of `p[f(i)]`. Two projections are the same where their normal
// forms are.
//
//   Projection::identity(1)(Point::of(3)) == Point::of(3)
//   Projection::affine(1, 1, {{{2}}}, {1})(Point::of(3)) == Point::of(7)          // p[2 * i + 1]
#pragma once
#include <functional>
#include <optional>

#include "ir/region/rect.hpp"

namespace taskspec {

struct Projection {
  enum class Kind : std::uint8_t { identity, affine, function } kind = Kind::identity;
  std::uint8_t in = 1, out = 1;                                                // ranks
  std::array<std::array<std::int64_t, highest_rank>, highest_rank> factors{};  // [axis of the colour][of the point]
  std::array<std::int64_t, highest_rank> offsets{};
  std::function<Point(const Point&)> function;  // kind function
  std::uint64_t hash = 0;                       // kind function: of its code and of what it captured

  static Projection identity(std::uint8_t rank);
  // Becomes the identity where it is that.
  static Projection affine(std::uint8_t in, std::uint8_t out,
                           const std::array<std::array<std::int64_t, highest_rank>, highest_rank>& factors,
                           const std::array<std::int64_t, highest_rank>& offsets);
  static Projection constant(std::uint8_t in, const Point& colour);
  static Projection of(std::uint8_t in, std::uint8_t out, std::function<Point(const Point&)> function,
                       std::uint64_t hash);

  Point operator()(const Point& point) const;
  // No two points of the domain have one colour, as far as the normal form tells: the identity; affine with independent
  // coefficients along the axes with more than one point.
  bool injective(const Rect& domain) const;
  // The smallest rectangle around all colours of the domain; none where the normal form does not tell.
  std::optional<Rect> image(const Rect& domain) const;
  friend bool operator==(const Projection& a, const Projection& b);
};

}  // namespace taskspec
