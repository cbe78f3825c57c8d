// SIC2D: the input of a CC2D.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::sic2d_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CC2D"};
constexpr BlockAxis order[] = {x, y, r};
constexpr BlockCost cost{.aligned = x, .alignment = 16, .order = order};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SIC2D",
    .number = 2,
    .kind = BlockKind::storage,
    .doc =
        "The input of a convolution with few channels: values of [y, x, r], which a chip keeps with x innermost; "
        "what fills it calls its channels f. Feeds CC2D.",
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
    .axes = axes_yxr,
    .in = holds_yxr,
    .out = gives_yxr,
    .attributes = stored,
    .feeds = feeds,
    .cost = &cost};

}  // namespace taskspec::sic2d_block
