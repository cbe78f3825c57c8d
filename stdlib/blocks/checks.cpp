// What the records of blocks check of their attributes, together with shapes: E4001.
#include <fmt/format.h>

#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::block_parts {

namespace {

Diag& misfit(const TaskBlock& block, Diags& diags, const std::string& what) {
  return diags.error("E4001", block.span, fmt::format("{} '{}': {}", block.def->name, block.name, what));
}

void check_window(const TaskBlock& block, BlockAxis axis, Diags& diags) {
  const bool is_y = axis == BlockAxis::y;
  const BlockWindow window = window_of(block, axis);
  const std::string_view kernel = is_y ? "kernel_y" : "kernel_x";
  if (block.has(kernel) && block.attribute(kernel) != 0 && block.attribute(kernel) != window.kernel)
    misfit(block, diags,
           fmt::format("{} is {}, its shape says {}: {}", kernel, block.attribute(kernel), is_y ? "ky" : "kx",
                       window.kernel));
  if (block.shape[axis] == 0 || window.outputs() == window.out) return;
  misfit(block, diags,
         fmt::format("windows over {} {} make {}, its shape says {}: {}", window.in, is_y ? "rows" : "columns",
                     window.outputs(), text(axis), window.out))
      .note(fmt::format("outputs = floor(({} + {} + {} - {}) / {}) + 1: input, pads, reach of a window, stride",
                        window.in, window.before, window.after, window.reach(), window.stride));
}

}  // namespace

void check_windows(const TaskBlock& block, Diags& diags) {
  check_window(block, BlockAxis::y, diags);
  check_window(block, BlockAxis::x, diags);
}

void check_compare(const TaskBlock& block, Diags& diags) { check_windows(block, diags); }

void check_table(const TaskBlock& block, Diags& diags) {
  const std::int64_t bits = block.attribute("lut_dw");
  if (bits == 4 || bits == 8 || bits == 12 || bits == 16) return;
  misfit(block, diags, fmt::format("lut_dw is 4, 8, 12 or 16, not {}", bits));
}

void check_neurons(const TaskBlock& block, Diags& diags) {
  static constexpr Precision made[] = {Precision::i32, Precision::i32,  Precision::i8,  Precision::i8,
                                       Precision::i8,  Precision::tern, Precision::i32, Precision::i8};
  const std::int64_t type = block.attribute("fire_type");
  if (type < 0 || type > 7 || made[type] == block.precision || is_float(block.precision)) return;
  misfit(block, diags,
         fmt::format("fire_type {} makes {}, not {}", type, info(made[type]).name, info(block.precision).name));
}

}  // namespace taskspec::block_parts
