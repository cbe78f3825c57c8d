// CVS: product with one factor.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cvs_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .windowed = true}, bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::stride_x, &attribute::stride_y, &attribute::constant_a,
                                                   &attribute::constant_b};

constexpr BlockCost cost{
    .operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f; },
    .cycles = product_cycles,
    .port_bytes = [](const TaskBlock& b, const BlockUse& use,
                     const CycleFigures&) { return point_bytes(b, bytes_of(pixels(b) * b.shape.f, use.in)); }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CVS",
    .number = 14,
    .kind = BlockKind::axon,
    .doc =
        "Product with one factor: out = bias[f] + constant_a * in, a 64-bit product, saturated to 32 bits. Inputs "
        "are i8, u8 or tern, the result i32. The bias may be one number, constant_b.",
    .example =
        "ir scaled {\n"
        "  a   : SI i8 [f: 2]\n"
        "  c   : CVS i32 [f: 2] (constant_a: 5, constant_b: 5)\n"
        "  h   : SI i32 [f: 2]\n"
        "  z   : SO i32 [f: 2]\n"
        "  a -> c\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(scaled([2, -3] as i8[2]).z.array)\n"
        "// expect: [15, -10]\n",
    .axes = axes_pointwise,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = narrow_to_wide,
    .check = check_windows,
    .numerics = &constant_products,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_constant_products,
    .nest = nest_of_constant_products};

}  // namespace taskspec::cvs_block
