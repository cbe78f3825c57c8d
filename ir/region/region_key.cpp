#include "ir/region/region_key.hpp"

#include "ir/base/key.hpp"
#include "ir/region/projection.hpp"

namespace taskspec {

void put_signed(std::string& key, std::int64_t number) {
  put_number(key, (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
}

void put_hash(std::string& key, Hash128 hash) {
  put_number(key, hash.low);
  put_number(key, hash.high);
}

void put_point(std::string& key, const Point& point) {
  put_number(key, point.rank);
  for (std::size_t axis = 0; axis < point.rank; ++axis) put_signed(key, point.at[axis]);
}

void put_rect(std::string& key, const Rect& rect) {
  put_number(key, rect.rank);
  for (std::size_t axis = 0; axis < rect.rank; ++axis) {
    put_signed(key, rect.lo[axis]);
    put_signed(key, rect.hi[axis]);
  }
}

void put_space(std::string& key, const IndexSpace& points) {
  put_number(key, points.is_rect());
  if (points.is_rect()) return put_rect(key, points.rect());
  const std::span<const Run> runs = points.intervals().runs();
  put_number(key, runs.size());
  put_hash(key, hash128(std::as_bytes(runs)));
}

void put_projection(std::string& key, const Projection& projection) {
  put_number(key, static_cast<std::uint64_t>(projection.kind));
  put_number(key, projection.in);
  put_number(key, projection.out);
  if (projection.kind == Projection::Kind::function) put_number(key, projection.hash);
  if (projection.kind != Projection::Kind::affine) return;
  for (std::size_t row = 0; row < projection.out; ++row) {
    for (std::size_t axis = 0; axis < projection.in; ++axis) put_signed(key, projection.factors[row][axis]);
    put_signed(key, projection.offsets[row]);
  }
}

}  // namespace taskspec
