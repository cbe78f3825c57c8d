// CAVG: sum over windows.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cavg_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .windowed = true}, bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::kernel_x, &attribute::kernel_y,  &attribute::stride_x,
                                                   &attribute::stride_y, &attribute::pad_up,    &attribute::pad_down,
                                                   &attribute::pad_left, &attribute::pad_right, &attribute::constant_b};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f * taps(b); },
                         .cycles = [](const TaskBlock& b, const BlockUse& use,
                                      const CycleFigures& chip) { return sum_cycles(b, use, chip, taps(b)); },
                         .port_bytes =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures&) {
                               return point_bytes(b, bytes_of(pixels(b) * b.shape.f * taps(b), use.in));
                             }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CAVG",
    .number = 16,
    .kind = BlockKind::axon,
    .doc =
        "Sum over windows, an average pool whose division is left to the cut that follows: out[y, x, f] = bias[f] "
        "+ sum over ky, kx of in[y * stride_y + ky - pad_up, x * stride_x + kx - pad_left, f], places outside "
        "being 0; ky outermost, saturated to 32 bits after every addition. Inputs are i32, i8, u8 or tern, the "
        "result i32.",
    .example =
        "ir pool {\n"
        "  a   : SI i8 [y: 1, x: 2, f: 2]\n"
        "  c   : CAVG i32 [y: 1, x: 1, f: 2, ky: 1, kx: 2]\n"
        "  h   : SI i32 [y: 1, x: 1, f: 2]\n"
        "  z   : SO i32 [y: 1, x: 1, f: 2]\n"
        "  a -> c\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(pool([[[1, 2], [3, 4]]] as i8[1, 2, 2]).z.array)\n"
        "// expect: [[[4, 6]]]\n",
    .axes = axes_pool,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = any_to_wide,
    .check = check_windows,
    .numerics = &window_sums,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_window_sums,
    .nest = nest_of_window_sums};

}  // namespace taskspec::cavg_block
