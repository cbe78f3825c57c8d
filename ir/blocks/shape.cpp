#include "ir/blocks/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {
constexpr std::array<std::string_view, block_axes> axis_names{"y", "x", "f", "r", "ky", "kx", "iy", "ix"};
constexpr std::array axis_extents{&BlockShape::y,  &BlockShape::x,  &BlockShape::f,  &BlockShape::r,
                                  &BlockShape::ky, &BlockShape::kx, &BlockShape::iy, &BlockShape::ix};
}  // namespace

std::string_view text(BlockAxis axis) { return axis_names[static_cast<std::size_t>(axis)]; }

std::optional<BlockAxis> block_axis_of(std::string_view name) {
  auto found = std::find(axis_names.begin(), axis_names.end(), name);
  if (found == axis_names.end()) return std::nullopt;
  return static_cast<BlockAxis>(found - axis_names.begin());
}

std::int64_t BlockShape::operator[](BlockAxis axis) const {
  return this->*axis_extents[static_cast<std::size_t>(axis)];
}
std::int64_t& BlockShape::operator[](BlockAxis axis) { return this->*axis_extents[static_cast<std::size_t>(axis)]; }

std::string BlockShape::text() const {
  std::string all;
  for (std::size_t i = 0; i < block_axes; ++i) {
    const std::int64_t extent = (*this)[static_cast<BlockAxis>(i)];
    if (extent != 0) all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", axis_names[i], extent);
  }
  return "[" + all + "]";
}

Extents of(const BlockShape& shape, std::span<const BlockAxis> axes) {
  Extents extents;
  for (BlockAxis axis : axes)
    if (shape[axis] != 0) extents.push_back(shape[axis]);
  return extents;
}

std::string Box::text() const {
  std::string all;
  for (std::size_t i = 0; i < size.size(); ++i) {
    all += i == 0 ? "" : ", ";
    all += position[i] == 0 ? fmt::format("{}", size[i]) : fmt::format("{}..{}", position[i], position[i] + size[i]);
  }
  return "[" + all + "]";
}

Box whole(const Extents& extents) { return {Extents(extents.size(), 0), extents}; }

}  // namespace taskspec
