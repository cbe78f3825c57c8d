// CVVH: product of two arrays.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cvvh_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .windowed = true},
                             {.name = "input2", .axes = axes_yxf, .windowed = true, .precisions = bytes},
                             bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::stride_x, &attribute::stride_y, &attribute::constant_b};

constexpr BlockCost cost{
    .operations = [](const TaskBlock& b) { return 2 * pixels(b) * b.shape.f; },
    .cycles = product_cycles,
    .port_bytes = [](const TaskBlock& b, const BlockUse& use,
                     const CycleFigures&) { return point_bytes(b, 2 * bytes_of(pixels(b) * b.shape.f, use.in)); }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CVVH",
    .number = 9,
    .kind = BlockKind::axon,
    .doc =
        "Product of two arrays, element by element: out = bias[f] + input * input2, saturated to 32 bits. Both "
        "are i8 or u8, the result i32. The bias may be one number, constant_b; with strides both inputs are read "
        "at every stride-th place.",
    .example =
        "ir times {\n"
        "  a   : SI i8 [f: 2]\n"
        "  b   : SI i8 [f: 2]\n"
        "  c   : CVVH i32 [f: 2]\n"
        "  h   : SI i32 [f: 2]\n"
        "  z   : SO i32 [f: 2]\n"
        "  a -> c.input\n"
        "  b -> c.input2\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(times([2, 3] as i8[2], [10, -10] as i8[2]).z.array)\n"
        "// expect: [20, -30]\n",
    .axes = axes_pointwise,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = bytes_to_wide,
    .check = check_windows,
    .numerics = &array_products,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_array_products,
    .nest = nest_of_products};

}  // namespace taskspec::cvvh_block
