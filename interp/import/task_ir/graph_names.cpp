#include "interp/import/task_ir/graph_names.hpp"

#include <algorithm>

namespace taskspec::task_ir {

namespace {

struct PrecisionNumber {
  Precision precision;
  tianjic_ir::Precision number;
};

constexpr PrecisionNumber precision_numbers[] = {
    {Precision::i8, tianjic_ir::INT_8},     {Precision::u8, tianjic_ir::UINT_8},
    {Precision::i16, tianjic_ir::INT_16},   {Precision::u16, tianjic_ir::UINT_16},
    {Precision::i32, tianjic_ir::INT_32},   {Precision::u32, tianjic_ir::UINT_32},
    {Precision::f16, tianjic_ir::FLOAT_16}, {Precision::f32, tianjic_ir::FLOAT_32},
    {Precision::tern, tianjic_ir::TERNARY}, {Precision::i28, tianjic_ir::INT_28},
    {Precision::u4, tianjic_ir::UINT_4},    {Precision::i9, tianjic_ir::INT_9}};

struct AxisField {
  std::int32_t (tianjic_ir::Shape::*get)() const;
  void (tianjic_ir::Shape::*set)(std::int32_t);
};

// By BlockAxis.
constexpr AxisField axis_fields[] = {
    {&tianjic_ir::Shape::ny, &tianjic_ir::Shape::set_ny},   {&tianjic_ir::Shape::nx, &tianjic_ir::Shape::set_nx},
    {&tianjic_ir::Shape::nf, &tianjic_ir::Shape::set_nf},   {&tianjic_ir::Shape::nr, &tianjic_ir::Shape::set_nr},
    {&tianjic_ir::Shape::nky, &tianjic_ir::Shape::set_nky}, {&tianjic_ir::Shape::nkx, &tianjic_ir::Shape::set_nkx},
    {&tianjic_ir::Shape::niy, &tianjic_ir::Shape::set_niy}, {&tianjic_ir::Shape::nix, &tianjic_ir::Shape::set_nix}};

}  // namespace

std::optional<Precision> precision_of(int number) {
  for (const auto& [precision, known] : precision_numbers)
    if (known == number) return precision;
  return std::nullopt;
}

std::optional<tianjic_ir::Precision> number_of(Precision precision) {
  for (const auto& [known, number] : precision_numbers)
    if (known == precision) return number;
  return std::nullopt;
}

std::int64_t extent_of(const tianjic_ir::Shape& shape, BlockAxis axis) {
  const std::int64_t extent = (shape.*axis_fields[static_cast<std::size_t>(axis)].get)();
  return extent == -1 ? 0 : extent;
}

void set_extent(tianjic_ir::Shape& shape, BlockAxis axis, std::int64_t extent) {
  if (extent != 0) (shape.*axis_fields[static_cast<std::size_t>(axis)].set)(static_cast<std::int32_t>(extent));
}

BlockShape block_shape(const tianjic_ir::Shape& shape) {
  BlockShape extents;
  for (std::size_t k = 0; k < block_axes; ++k)
    extents[static_cast<BlockAxis>(k)] = extent_of(shape, static_cast<BlockAxis>(k));
  return extents;
}

std::vector<BlockAxis> axes_of(const TaskBlock& block, const ClusterDef& cluster) {
  if (cluster.length) return {BlockAxis::f};
  std::vector<BlockAxis> axes;
  for (const BlockAxis axis : cluster.axes) {
    const bool is_read = cluster.windowed && (axis == BlockAxis::y || axis == BlockAxis::x);
    if ((is_read ? read_extent(block, axis) : block.shape[axis]) != 0) axes.push_back(axis);
  }
  return axes;
}

std::vector<std::size_t> possible_clusters(const TaskBlock& block) {
  std::vector<std::size_t> listed;
  for (std::size_t c = 0; c < block.in_clusters(); ++c) {
    const ClusterDef& cluster = block.in_cluster(c);
    if (!cluster.present || cluster.present(block)) listed.push_back(c);
  }
  return listed;
}

std::optional<std::vector<std::size_t>> listed_clusters(const TaskBlock& block, std::size_t count) {
  std::vector<std::size_t> listed = possible_clusters(block);
  for (std::size_t k = listed.size(); k-- > 0 && listed.size() > count;) {
    const ClusterDef& cluster = block.in_cluster(listed[k]);
    if (cluster.optional && !cluster.present) listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (listed.size() < count) return std::nullopt;
  listed.resize(count);
  return listed;
}

}  // namespace taskspec::task_ir
