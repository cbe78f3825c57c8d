// Where the elements of a piece lie: each at its index in the array of the whole region, or where that has room for
// some elements alone; or in memory of the piece, which has room for its points and hardly more.
//
//   PieceMemory::own(piece)       // a rectangle: row by row; scattered points: one behind the other
//
// Elements that follow one another in a row of the region, and all belong to the piece, do so in memory, too.
#pragma once
#include "ir/region/packed_places.hpp"
#include "ir/region/space.hpp"

namespace taskspec {

struct PieceMemory {
  const Rect* box = nullptr;             // row by row the points of this rectangle, those of the piece among them; or
  const Intervals* scattered = nullptr;  // these, by number; or
  const PackedPlaces* packed = nullptr;  // these, of a region

  static PieceMemory inside(const Rect& root, const PackedPlaces* packed = nullptr) { return {&root, nullptr, packed}; }
  // Scattered points lie by number where a rectangle around them had twice as many. The piece outlives it.
  static PieceMemory own(const IndexSpace& piece) {
    const bool fills = piece.is_rect() || piece.rect().size() <= 2 * piece.size();
    return {&piece.rect(), fills ? nullptr : &piece.intervals(), nullptr};
  }

  bool is_box() const { return !scattered && !packed; }
  std::int64_t elements() const { return scattered ? scattered->size() : box->size(); }
  // Of a point that has one.
  std::int64_t place(const Rect& root, const Point& point) const {
    if (is_box()) return box->linear(point);
    const std::int64_t index = root.linear(point);
    return packed ? packed->place(index) : scattered->rank_of(index);
  }
};

}  // namespace taskspec
