// SW2D: weights of a CC2D.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::sw2d_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CC2D"};
constexpr BlockAxis order[] = {f, kx, ky, r};
constexpr BlockCost cost{.aligned = f, .alignment = 32, .order = order, .is_grouped = true};

}  // namespace

extern constinit const BlockDef record =
    BlockFields{.name = "SW2D",
                .number = 7,
                .kind = BlockKind::data,
                .doc = "The weights of a convolution with few channels: [f, r, ky, kx]. Feeds CC2D.",
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
                .axes = axes_kernel,
                .in = holds_kernel,
                .out = gives_kernel,
                .attributes = stored,
                .feeds = feeds,
                .cost = &cost};

}  // namespace taskspec::sw2d_block
