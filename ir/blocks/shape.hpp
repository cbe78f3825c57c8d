// The extents of a Task IR block: the six loops that a primitive of a chip has at most, and the rows and columns that
// its windows read. 0: the block has no such extent.
//
//   BlockShape conv{.y = 24, .x = 24, .f = 6, .r = 1, .ky = 5, .kx = 5};     conv.text() == "[y: 24, x: 24, f: 6, ...]"
//   of(conv, output_axes) == Extents{24, 24, 6}                              what an array of it is like
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec {

// In the order of data: an array of a block is row-major in the axes that it has.
enum class BlockAxis : std::uint8_t { y, x, f, r, ky, kx, iy, ix };
inline constexpr std::size_t block_axes = 8;

std::string_view text(BlockAxis axis);  // "ky"
std::optional<BlockAxis> block_axis_of(std::string_view name);

struct BlockShape {
  std::int64_t y = 0, x = 0, f = 0, r = 0, ky = 0, kx = 0, iy = 0, ix = 0;

  std::int64_t operator[](BlockAxis axis) const;
  std::int64_t& operator[](BlockAxis axis);
  std::string text() const;  // those that are there
  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

// Extents of a part of a block, a cluster: of these axes, as far as the block has them. A block of [f] alone (a vector)
// has clusters of rank 1.
Extents of(const BlockShape& shape, std::span<const BlockAxis> axes);

// A part of a cluster: where it begins and how far it goes, per axis that the cluster has.
struct Box {
  Extents position, size;
  std::string text() const;  // "[0..14, 0..28, 6]": as a text writes it
  friend bool operator==(const Box&, const Box&) = default;
};
Box whole(const Extents& extents);

}  // namespace taskspec
