// How tensors lie in blocks.
#include <array>

#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

std::int64_t extent_at(const Extents& tensor, std::size_t axis) { return axis == no_axis ? 1 : tensor[axis]; }

Extents steps_of_tensor(const Extents& tensor) {
  Extents steps(tensor.size(), 1);
  for (std::size_t k = tensor.size(); k-- > 1;) steps[k - 1] = steps[k] * tensor[k];
  return steps;
}

}  // namespace

// [B, C, H, W] as images, [B, T, D] as rows, [B, N] as a vector; without a batch as it is written.
BlockLayout plain_layout(const Extents& tensor) {
  const std::size_t rank = tensor.size();
  if (rank == 0) return {};
  if (rank == 1) return {.f = 0};
  if (rank == 4) return {.y = 2, .x = 3, .f = 1};
  const bool has_batch = tensor[0] == 1;
  if (rank == 2) return has_batch ? BlockLayout{.f = 1} : BlockLayout{.x = 0, .f = 1};
  if (rank == 3) return has_batch ? BlockLayout{.x = 1, .f = 2} : BlockLayout{.y = 0, .x = 1, .f = 2};
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < rank; ++k)
    if (tensor[k] != 1) axes.push_back(k);
  BlockLayout layout;
  if (!axes.empty()) layout.f = axes.back();
  if (axes.size() > 1) layout.x = axes[axes.size() - 2];
  if (axes.size() > 2) layout.y = axes[axes.size() - 3];
  return layout;
}

bool covers(const Extents& tensor, const BlockLayout& layout) {
  for (std::size_t k = 0; k < tensor.size(); ++k)
    if (tensor[k] != 1 && k != layout.y && k != layout.x && k != layout.f) return false;
  return true;
}

Extents block_extents(const Extents& tensor, const BlockLayout& layout) {
  if (layout.y == no_axis && layout.x == no_axis) return {extent_at(tensor, layout.f)};
  return {extent_at(tensor, layout.y), extent_at(tensor, layout.x), extent_at(tensor, layout.f)};
}

BlockShape shape_of(const Extents& block, bool as_r) {
  BlockShape shape;
  (as_r ? shape.r : shape.f) = block.back();
  if (block.size() == 3) shape.y = block[0], shape.x = block[1];
  return shape;
}

std::vector<std::int64_t> tensor_places(const Extents& tensor, const BlockLayout& layout) {
  const Extents steps = steps_of_tensor(tensor);
  auto step = [&](std::size_t axis) { return axis == no_axis ? 0 : steps[axis]; };
  std::vector<std::int64_t> places;
  for (std::int64_t y = 0; y < extent_at(tensor, layout.y); ++y)
    for (std::int64_t x = 0; x < extent_at(tensor, layout.x); ++x)
      for (std::int64_t f = 0; f < extent_at(tensor, layout.f); ++f)
        places.push_back(y * step(layout.y) + x * step(layout.x) + f * step(layout.f));
  return places;
}

ValueRange cut_to(ValueRange range, Precision precision) {
  const PrecisionInfo& p = info(precision);
  return {std::clamp(range.least, p.minimum, p.maximum), std::clamp(range.most, p.minimum, p.maximum)};
}

std::optional<int> power_of_four(double ratio) {
  const double n = std::log2(ratio) / 2;
  const double whole = std::round(n);
  if (std::abs(n - whole) > 1e-9 || whole < 0 || whole > 15) return std::nullopt;
  return static_cast<int>(whole);
}

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::floor(value + 0.5)); }

}  // namespace taskspec
