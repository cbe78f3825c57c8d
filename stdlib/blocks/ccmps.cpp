// CCMPS: the least of a window and a constant.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::ccmps_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf, .windowed = true}};
constexpr const BlockAttributeDef* attributes[] = {
    &attribute::kernel_x, &attribute::kernel_y, &attribute::stride_x,  &attribute::stride_y, &attribute::pad_up,
    &attribute::pad_down, &attribute::pad_left, &attribute::pad_right, &attribute::cmp,      &attribute::shift};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f * taps(b); },
                         .cycles = compare_cycles,
                         .port_bytes = compare_bytes};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CCMPS",
    .number = 17,
    .kind = BlockKind::soma,
    .doc =
        "The least of a window and a constant: minimum pools, and an upper bound. First, where the output is "
        "narrower by the code of the chip (i32 < i8 < u8 < tern), values are shifted by `shift` bits to the "
        "right, rounded down, and cut to -128..127, or -1..1 for tern; else they stay. Then the minimum over the "
        "window, places outside being 0, also where all others are positive; then the minimum with the constant "
        "cmp, for i8, tern and i32 -> i32. In rabbit mode it is the same with shifts that may be odd: the "
        "reference takes a maximum here, which is its mistake.",
    .example =
        "ir bound {\n"
        "  x   : SI i8 [f: 3]\n"
        "  c   : CCMPS i8 [f: 3] (cmp: 6)\n"
        "  h   : SI i8 [f: 3]\n"
        "  z   : SO i8 [f: 3]\n"
        "  x -> c\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(bound([-8, 6, 20] as i8[3]).z.array)\n"
        "// expect: [-8, 6, 6]\n",
    .axes = axes_pool,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = compared,
    .check = check_compare,
    .numerics = &compare_least,
    .cost = &cost,
    .rewrites = &cut_compares,
    .reverse = &reverse_none_of_least,
    .nest = nest_of_least};

}  // namespace taskspec::ccmps_block
