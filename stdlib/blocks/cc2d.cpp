// CC2D: convolution with few input channels.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cc2d_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxr, .windowed = true},
                             {.name = "weight", .axes = axes_kernel, .precisions = narrow},
                             bias};
constexpr const BlockAttributeDef* attributes[] = {
    &attribute::kernel_x, &attribute::kernel_y, &attribute::stride_x,  &attribute::stride_y,   &attribute::pad_up,
    &attribute::pad_down, &attribute::pad_left, &attribute::pad_right, &attribute::dilation_x, &attribute::dilation_y};

// Of a row of the input, for a group of pixels.
std::int64_t lines(const TaskBlock& b) { return columns(b) < 16 ? 1 : columns(b) < 32 ? 2 : 3; }
std::int64_t groups(const TaskBlock& b, const CycleFigures& chip) {
  return rows(b) * divided_up(columns(b), chip.pixels) * divided_up(b.shape.f, chip.outputs);
}
std::int64_t kernel_rows(const TaskBlock& b) { return std::max<std::int64_t>(1, b.shape.ky) * b.shape.r; }

constexpr BlockCost cost{
    .multiply_adds = [](const TaskBlock& b) { return pixels(b) * b.shape.f * b.shape.r * taps(b); },
    .cycles =
        [](const TaskBlock& b, const BlockUse&, const CycleFigures& chip) {
          const std::int64_t each = bias_clk(b, chip.outputs, chip) + lines(b) * kernel_rows(b) + taps(b) * b.shape.r +
                                    write_clk(chip.outputs * chip.pixels, chip);
          return groups(b, chip) * each;
        },
    .port_bytes =
        [](const TaskBlock& b, const BlockUse&, const CycleFigures& chip) {
          return convolution_bytes(b, chip, groups(b, chip) * lines(b) * kernel_rows(b));
        }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CC2D",
    .number = 13,
    .kind = BlockKind::axon,
    .doc =
        "Convolution for inputs of few channels, as those of images: the sums of CC, in the same order, with "
        "another cycle rule. A chip keeps its input with x innermost and its padding in place.",
    .example =
        "ir sums {\n"
        "  x   : SIC2D i8 [y: 1, x: 3, r: 1]\n"
        "  w   : SW2D i8 [f: 1, r: 1, ky: 1, kx: 2] = fill(1)\n"
        "  c   : CC2D i32 [y: 1, x: 2, f: 1, r: 1, ky: 1, kx: 2]\n"
        "  h   : SI i32 [y: 1, x: 2, f: 1]\n"
        "  z   : SO i32 [y: 1, x: 2, f: 1]\n"
        "  x -> c.input\n"
        "  w -> c.weight\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(sums([[[1], [3], [5]]] as i8[1, 3, 1]).z.array)\n"
        "// expect: [[[4], [8]]]\n",
    .axes = axes_convolution,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = narrow_to_wide,
    .check = check_windows,
    .numerics = &window_products,
    .cost = &cost,
    .rewrites = &cut_sums,
    .reverse = &reverse_window_products,
    .nest = nest_of_windows};

}  // namespace taskspec::cc2d_block
