// CC: convolution.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cc_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxr, .windowed = true},
                             {.name = "weight", .axes = axes_kernel, .precisions = narrow},
                             bias};
constexpr const BlockAttributeDef* attributes[] = {
    &attribute::kernel_x, &attribute::kernel_y, &attribute::stride_x,  &attribute::stride_y,   &attribute::pad_up,
    &attribute::pad_down, &attribute::pad_left, &attribute::pad_right, &attribute::dilation_x, &attribute::dilation_y};

constexpr BlockCost cost{
    .multiply_adds = [](const TaskBlock& b) { return pixels(b) * b.shape.f * b.shape.r * taps(b); },
    .cycles =
        [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
          // Later lines of the input hide behind multiply-adds while weights come from another bank.
          const std::int64_t lines = use.same_bank ? divided_up(b.shape.r, per_line(use.in)) * taps(b) : 1;
          const std::int64_t each = bias_clk(b, chip.outputs, chip) + chip.first_lines * lines + taps(b) * b.shape.r +
                                    write_clk(chip.outputs * chip.pixels, chip);
          return rows(b) * divided_up(columns(b), chip.pixels) * divided_up(b.shape.f, chip.outputs) * each;
        },
    .port_bytes =
        [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
          const std::int64_t lines = divided_up(b.shape.r, per_line(use.in)) * taps(b);  // of a pixel
          return convolution_bytes(b, chip, pixels(b) * divided_up(b.shape.f, chip.outputs) * lines);
        }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CC",
    .number = 11,
    .kind = BlockKind::axon,
    .doc =
        "Convolution over windows: out[y, x, f] = bias[f] + sum over r, ky, kx of in[y * stride_y + ky * "
        "dilation_y - pad_up, x * stride_x + kx * dilation_x - pad_left, r] * weight[f, r, ky, kx], places "
        "outside being 0; from the bias on, r outermost, then ky, then kx; a 64-bit product, saturated to 32 bits "
        "after every addition. Inputs and weights are i8, u8 or tern, the result i32. There is no constant bias: "
        "it counts as 0.",
    .example =
        "ir sums {\n"
        "  x   : SIC i8 [y: 1, x: 3, r: 2]\n"
        "  w   : SW i8 [f: 1, r: 2, ky: 1, kx: 2] = fill(1)\n"
        "  c   : CC i32 [y: 1, x: 2, f: 1, r: 2, ky: 1, kx: 2]\n"
        "  h   : SI i32 [y: 1, x: 2, f: 1]\n"
        "  z   : SO i32 [y: 1, x: 2, f: 1]\n"
        "  x -> c.input\n"
        "  w -> c.weight\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(sums([[[1, 2], [3, 4], [5, 6]]] as i8[1, 3, 2]).z.array)\n"
        "// expect: [[[10], [18]]]\n",
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

}  // namespace taskspec::cc_block
