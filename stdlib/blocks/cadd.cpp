// CADD: sum of several arrays.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cadd_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .repeated = true}, bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::constant_b};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f * b.branches; },
                         .cycles = [](const TaskBlock& b, const BlockUse& use,
                                      const CycleFigures& chip) { return sum_cycles(b, use, chip, b.branches); },
                         .port_bytes =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures&) {
                               return point_bytes(b, bytes_of(pixels(b) * b.shape.f * b.branches, use.in));
                             }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CADD",
    .number = 8,
    .kind = BlockKind::axon,
    .doc =
        "Sum of arrays: out = bias[f] + input + input2 + ..., in this order, saturated to 32 bits after every "
        "addition. Inputs are i32, i8, u8 or tern, the result i32. The bias may be one number, constant_b.",
    .example =
        "ir total {\n"
        "  a   : SI i8 [f: 2]\n"
        "  b   : SI i8 [f: 2]\n"
        "  c   : CADD i32 [f: 2]\n"
        "  h   : SI i32 [f: 2]\n"
        "  z   : SO i32 [f: 2]\n"
        "  a -> c.input\n"
        "  b -> c.input2\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(total([1, 2] as i8[2], [100, 100] as i8[2]).z.array)\n"
        "// expect: [101, 102]\n",
    .axes = axes_yxf,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = any_to_wide,
    .numerics = &sums,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_sums,
    .nest = nest_of_sums};

}  // namespace taskspec::cadd_block
