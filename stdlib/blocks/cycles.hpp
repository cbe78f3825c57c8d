// What the costs of primitives share: cycles, and bytes at the ports of memory.
#pragma once
#include <algorithm>

#include "ir/blocks/cost.hpp"

namespace taskspec::block_parts {

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

inline std::int64_t rows(const TaskBlock& block) { return std::max<std::int64_t>(1, block.shape.y); }
inline std::int64_t columns(const TaskBlock& block) { return std::max<std::int64_t>(1, block.shape.x); }
inline std::int64_t pixels(const TaskBlock& block) { return rows(block) * columns(block); }
inline std::int64_t taps(const TaskBlock& block) {
  return std::max<std::int64_t>(1, block.shape.ky) * std::max<std::int64_t>(1, block.shape.kx);
}

// For a group of outputs: one clk for a constant, else a vector of four bytes each.
inline std::int64_t bias_clk(const TaskBlock& block, std::int64_t outputs, const CycleFigures& chip) {
  return block.bias == BiasKind::vector ? divided_up(4 * outputs, chip.bias_bytes_per_clk) : 1;
}
// To write the 32-bit sums of `outputs` outputs at one pixel.
inline std::int64_t write_clk(std::int64_t outputs, const CycleFigures& chip) {
  return divided_up(4 * outputs, chip.axon_bytes_per_clk);
}
// Inputs in a line of 16 bytes, whatever the ports.
inline constexpr std::int64_t line_bytes = 16;
inline std::int64_t per_line(Precision precision) { return line_bytes * 8 / packed_bits(precision); }
// Lines of the soma unit for `elements` of a pixel.
inline std::int64_t soma_lines(std::int64_t elements, Precision precision, const CycleFigures& chip) {
  return divided_up(elements * packed_bits(precision), chip.soma_bytes_per_clk * 8);
}

// A sum of `operands` values for each output, point by point.
inline std::int64_t sum_cycles(const TaskBlock& block, const BlockUse& use, const CycleFigures& chip,
                               std::int64_t operands) {
  const std::int64_t group = chip.axon_bytes_per_clk * 8 / packed_bits(use.in);
  const std::int64_t each = bias_clk(block, group, chip) + 1 + operands + write_clk(group, chip);
  return pixels(block) * divided_up(block.shape.f, group) * each;
}
// A product for each output, point by point.
inline std::int64_t product_cycles(const TaskBlock& block, const BlockUse&, const CycleFigures& chip) {
  const std::int64_t each = bias_clk(block, chip.outputs, chip) + 1 + 1 + write_clk(chip.outputs * chip.pixels, chip);
  return pixels(block) * divided_up(block.shape.f, chip.outputs) * each;
}
inline std::int64_t compare_cycles(const TaskBlock& block, const BlockUse& use, const CycleFigures& chip) {
  const std::int64_t inputs = divided_up(packed_bits(use.in), packed_bits(block.precision));  // lines per output line
  return pixels(block) * soma_lines(block.shape.f, block.precision, chip) * (taps(block) * inputs + 1);
}

// ---- bytes ----------------------------------------------------------------------------------------

inline std::int64_t bytes_of(std::int64_t elements, Precision precision) {
  return divided_up(elements * packed_bits(precision), 8);
}
// What the 32-bit sums of a block take, once.
inline std::int64_t written_sums(const TaskBlock& block) { return 4 * pixels(block) * block.shape.f; }
// A vector of bias, that is loaded so often.
inline std::int64_t bias_bytes(const TaskBlock& block, std::int64_t times) {
  return block.bias == BiasKind::vector ? 4 * block.shape.f * times : 0;
}

// With each multiply-add clk a line of weights as wide as the port; `lines` of the input; a bias for each group of
// pixels.
inline PortBytes convolution_bytes(const TaskBlock& block, const CycleFigures& chip, std::int64_t lines) {
  const std::int64_t places = rows(block) * divided_up(columns(block), chip.pixels);
  const std::int64_t clk = places * divided_up(block.shape.f, chip.outputs) * taps(block) * block.shape.r;
  return {clk * chip.axon_bytes_per_clk + lines * line_bytes + bias_bytes(block, places), written_sums(block)};
}
// Point by point: operands of so many elements and bytes, a bias at each pixel.
inline PortBytes point_bytes(const TaskBlock& block, std::int64_t operands) {
  return {operands + bias_bytes(block, pixels(block)), written_sums(block)};
}
inline PortBytes compare_bytes(const TaskBlock& block, const BlockUse& use, const CycleFigures&) {
  const std::int64_t results = pixels(block) * block.shape.f;
  return {bytes_of(results * taps(block), use.in), bytes_of(results, block.precision)};
}

}  // namespace taskspec::block_parts
