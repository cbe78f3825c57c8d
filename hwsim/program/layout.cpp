#include "hwsim/program/layout.hpp"

#include <algorithm>
#include <cstring>

#include "ir/blocks/cost.hpp"

namespace taskspec {

namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// Axes of an array of a block, as far as it has them: those of its outputs with that rank. A vector has the last one.
std::vector<BlockAxis> axes_of(std::span<const BlockAxis> all, std::size_t rank) {
  std::vector<BlockAxis> axes(all.begin(), all.end());
  // [y, x, f] without planes is [f]; [f, r, ky, kx] without windows is [f, r].
  const bool has_kernel = std::ranges::find(axes, BlockAxis::ky) != axes.end();
  while (axes.size() > rank) has_kernel ? axes.pop_back() : void(axes.erase(axes.begin()));
  return axes;
}

}  // namespace

std::int64_t ChipLayout::bit_of(const Extents& index) const {
  std::int64_t bit = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    bit += i == grouped ? index[i] / group * group_stride + index[i] % group * strides[i] : index[i] * strides[i];
  return bit;
}

std::int64_t ChipLayout::bit_of(std::int64_t place) const {
  std::int64_t bit = 0;
  for (std::size_t i = strides.size(); i-- > 0;) {
    const std::int64_t at = place % type.extents[i];
    place /= type.extents[i];
    bit += i == grouped ? at / group * group_stride + at % group * strides[i] : at * strides[i];
  }
  return bit;
}

ChipLayout layout_of(const BlockDef& holder, const ArrayType& type) {
  const BlockCost& cost = *holder.cost;
  ChipLayout layout{.type = type, .bits = packed_bits(type.precision), .strides = Extents(type.extents.size())};
  const std::vector<BlockAxis> axes =
      axes_of(holder.out.empty() ? holder.axes : holder.out[0].axes, type.extents.size());
  const bool is_wide = layout.bits == 32 && cost.wide_alignment != 0;
  const std::int64_t line = (is_wide ? cost.wide_alignment : std::max<std::int64_t>(1, cost.alignment)) * 8;
  std::int64_t stride = layout.bits;
  for (BlockAxis axis : cost.order) {
    const auto found = std::ranges::find(axes, axis);
    if (found == axes.end()) continue;
    const auto at = static_cast<std::size_t>(found - axes.begin());
    layout.strides[at] = stride;
    const bool is_aligned = axis == cost.aligned;
    if (is_aligned && cost.is_grouped) {
      layout.grouped = at;
      layout.group = line / layout.bits;
      stride = line;
    } else {
      stride *= type.extents[at];
      if (is_aligned) stride = rounded_up(stride, line);
    }
  }
  // Axes that the record does not name lie behind the others.
  for (std::size_t i = type.extents.size(); i-- > 0;) {
    if (layout.strides[i] != 0) continue;
    layout.strides[i] = stride;
    stride *= type.extents[i];
  }
  if (layout.grouped != SIZE_MAX) {
    layout.group_stride = stride;
    stride *= (type.extents[layout.grouped] + layout.group - 1) / layout.group;
  }
  layout.bytes = rounded_up(stride, 8) / 8;
  return layout;
}

ChipLayout by_rows(ChipLayout layout) {
  const std::int64_t rows = layout.type.extents[0], row = layout.strides[0];
  std::int64_t all = row;
  for (std::size_t i = 1; i < layout.strides.size(); ++i) {
    if (layout.strides[i] <= row) continue;
    layout.strides[i] /= rows;
    all = std::max(all, layout.strides[i] * layout.type.extents[i]);
  }
  layout.strides[0] = all;
  return layout;
}

ChipLayout result_layout(const TaskBlock& block) {
  const ArrayType type = value_type(block);
  ChipLayout layout{.type = type, .bits = packed_bits(type.precision), .strides = Extents(type.extents.size())};
  const std::int64_t line = (block.def->kind == BlockKind::axon ? 128 : 16) * 8;
  std::int64_t stride = layout.bits;
  for (std::size_t i = type.extents.size(); i-- > 0;) {
    layout.strides[i] = stride;
    stride *= type.extents[i];
    if (i + 1 == type.extents.size()) stride = rounded_up(stride, line);
  }
  layout.bytes = type.extents.empty() ? 16 : stride / 8;
  return layout;
}

namespace {

// Visits runs of elements that follow each other in both orders: (place on the host, place in bits, length).
template <class F>
void each_run(const ChipLayout& layout, F&& visit) {
  const Extents& extents = layout.type.extents;
  const std::size_t rank = extents.size();
  if (rank == 0) return visit(std::int64_t{0}, std::int64_t{0}, std::int64_t{1});
  if (layout.type.elements() == 0) return;
  const bool side_by_side = layout.strides[rank - 1] == layout.bits && layout.grouped != rank - 1;
  const std::int64_t length = side_by_side ? extents[rank - 1] : 1;
  const std::int64_t lines = layout.type.elements() / length;
  Extents index(rank);
  for (std::int64_t line = 0; line < lines; ++line) {
    visit(line * length, layout.bit_of(index), length);
    for (std::size_t i = side_by_side ? rank - 1 : rank; i-- > 0;) {
      if (++index[i] < extents[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace

std::vector<std::uint8_t> bytes_with_elements(const ChipLayout& layout) {
  std::vector<std::uint8_t> words(static_cast<std::size_t>((layout.bytes + 7) / 8));
  each_run(layout, [&](std::int64_t, std::int64_t bit, std::int64_t length) {
    const std::int64_t end = (bit + length * layout.bits + 7) / 8;
    for (std::int64_t byte = bit / 8; byte < end; ++byte) words[static_cast<std::size_t>(byte / 8)] |= 1 << byte % 8;
  });
  return words;
}

ChipLayout part_of(const ChipLayout& layout, const Extents& size) {
  ChipLayout part = layout;
  part.type.extents = size;
  if (!size.empty()) part.bytes = (size[0] * layout.strides[0] + 7) / 8;  // rows are the slowest
  return part;
}

void put(const ChipLayout& layout, const Array& array, std::byte* memory, std::int64_t first) {
  const std::size_t element = info(layout.type.precision).bytes;
  if (layout.bits >= 8) {
    each_run(layout, [&](std::int64_t place, std::int64_t bit, std::int64_t length) {
      std::memcpy(memory + bit / 8, array.raw() + static_cast<std::size_t>(first + place) * element,
                  static_cast<std::size_t>(length) * element);
    });
    return;
  }
  const auto mask = static_cast<unsigned>((1 << layout.bits) - 1);
  each_run(layout, [&](std::int64_t place, std::int64_t bit, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i, bit += layout.bits) {
      const auto value = static_cast<unsigned>(array.integer(first + place + i)) & mask;
      auto& byte = memory[bit / 8];
      byte = static_cast<std::byte>((std::to_integer<unsigned>(byte) & ~(mask << bit % 8)) | value << bit % 8);
    }
  });
}

void take(const ChipLayout& layout, const std::byte* memory, Array& array, std::int64_t first) {
  const std::size_t element = info(layout.type.precision).bytes;
  if (layout.bits >= 8) {
    each_run(layout, [&](std::int64_t place, std::int64_t bit, std::int64_t length) {
      std::memcpy(array.raw() + static_cast<std::size_t>(first + place) * element, memory + bit / 8,
                  static_cast<std::size_t>(length) * element);
    });
    return;
  }
  const bool is_signed = info(layout.type.precision).minimum < 0;
  const std::int64_t values = std::int64_t{1} << layout.bits;
  each_run(layout, [&](std::int64_t place, std::int64_t bit, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i, bit += layout.bits) {
      std::int64_t value = (std::to_integer<std::int64_t>(memory[bit / 8]) >> bit % 8) & (values - 1);
      if (is_signed && value >= values / 2) value -= values;
      array.set_integer(first + place + i, value);
    }
  });
}

}  // namespace taskspec
