// CAX: product with a factor per channel.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cax_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .windowed = true},
                             {.name = "alpha", .axes = axes_f, .precisions = bytes},
                             bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::stride_x, &attribute::stride_y, &attribute::constant_b};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return 2 * pixels(b) * b.shape.f; },
                         .cycles = product_cycles,
                         // A factor is a byte.
                         .port_bytes =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures&) {
                               return point_bytes(b, bytes_of(pixels(b) * b.shape.f, use.in) + pixels(b) * b.shape.f);
                             }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CAX",
    .number = 12,
    .kind = BlockKind::axon,
    .doc =
        "Product with a factor for each channel: out[y, x, f] = bias[f] + alpha[f] * in[y, x, f], saturated to 32 "
        "bits. Inputs are i8, u8 or tern, alpha i8 or u8, the result i32. The bias may be one number, constant_b.",
    .example =
        "ir scaled {\n"
        "  a   : SI i8 [f: 2]\n"
        "  w   : SB i8 [f: 2] = fill(3)\n"
        "  c   : CAX i32 [f: 2]\n"
        "  h   : SI i32 [f: 2]\n"
        "  z   : SO i32 [f: 2]\n"
        "  a -> c.input\n"
        "  w -> c.alpha\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(scaled([2, -3] as i8[2]).z.array)\n"
        "// expect: [6, -9]\n",
    .axes = axes_pointwise,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = narrow_to_wide,
    .check = check_windows,
    .numerics = &channel_products,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_channel_products,
    .nest = nest_of_products};

}  // namespace taskspec::cax_block
