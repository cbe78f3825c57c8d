// CCMPB: the largest of a window and a constant.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::ccmpb_block {

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
    .name = "CCMPB",
    .number = 15,
    .kind = BlockKind::soma,
    .doc =
        "The largest of a window and a constant: pools, relu, and the cut from sums to bytes. First, where the "
        "output is narrower by the code of the chip (i32 < i8 < u8 < tern), values are shifted by `shift` bits to "
        "the right, rounded down, and cut to -128..127, or -1..1 for tern; else they stay. Then the maximum over "
        "the window, places outside being 0, also where all others are negative; then the maximum with the "
        "constant cmp, for i8, tern and i32 -> i32. In rabbit mode the maximum over the window is shifted always, "
        "and cut to cmp..127 (1 for tern, no bound for i32). cmp is one number; a number beyond a byte is the "
        "four bytes of channels 0, 1, 2, 3, 0, ..., or the sixteen pairs of bits of a tern.",
    .example =
        "ir relu {\n"
        "  x   : SI i32 [f: 4]\n"
        "  c   : CCMPB i8 [f: 4] (shift: 2, cmp: 0)\n"
        "  h   : SI i8 [f: 4]\n"
        "  z   : SO i8 [f: 4]\n"
        "  x -> c\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(relu([-8, 9, 20, 900] as i32[4]).z.array)\n"
        "// expect: [0, 2, 5, 127]\n",
    .axes = axes_pool,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = compared,
    .check = check_compare,
    .numerics = &compare_most,
    .cost = &cost,
    .rewrites = &cut_compares,
    .reverse = &reverse_relus,
    .nest = nest_of_most};

}  // namespace taskspec::ccmpb_block
