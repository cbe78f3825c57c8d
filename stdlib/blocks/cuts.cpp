// Along which axes blocks may be cut, and what changes in a part beside its extents.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::block_parts {

namespace {

constexpr BlockAxis sum_axes[] = {y, x, f, r};

// A constant beyond a byte is a word with a byte or a pair of bits for each channel: it begins at another one.
void turn_constant(TaskBlock& part, BlockAxis axis, std::int64_t begin) {
  const std::int64_t cmp = part.attribute("cmp");
  if (axis != BlockAxis::f || (cmp >= -128 && cmp <= 127) || packed_bits(part.precision) > 8) return;
  const auto bits = static_cast<unsigned>(begin * packed_bits(part.precision) % 32);
  const auto word = static_cast<std::uint32_t>(cmp);
  const std::uint32_t turned = bits == 0 ? word : word >> bits | word << (32 - bits);
  part.set(attribute::cmp, static_cast<std::int32_t>(turned));
}

std::string refuses_neurons(const TaskBlock& block, BlockAxis) {
  const bool is_random = block.attribute("vm_const_en") == 0 || block.attribute("vm_const") != 0;
  return is_random ? "its random thresholds come from one shift register, neuron by neuron; with vm_const_en 1 and "
                     "vm_const 0 it "
                     "draws none"
                   : "";
}

}  // namespace

constinit const BlockRewrites uncut{};
constinit const BlockRewrites cut_points{.axes = axes_yxf};
constinit const BlockRewrites cut_sums{.axes = sum_axes};
constinit const BlockRewrites cut_vector_sums{.axes = axes_fr};
constinit const BlockRewrites cut_compares{.axes = axes_yxf, .adjust = turn_constant};
constinit const BlockRewrites cut_neurons{.axes = axes_yxf, .refuses = refuses_neurons};

}  // namespace taskspec::block_parts
