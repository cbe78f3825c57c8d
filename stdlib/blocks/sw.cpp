// SW: weights of a CC.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::sw_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CC", "CVM"};
constexpr BlockAxis order[] = {f, r, kx, ky};
constexpr BlockCost cost{.aligned = f, .alignment = 32, .order = order, .is_grouped = true};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SW",
    .number = 1,
    .kind = BlockKind::data,
    .doc =
        "The weights of a convolution: [f, r, ky, kx], or [f, r] for windows of one place. Static, or computed: "
        "filled by an edge. Feeds CC and CVM.",
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
    .axes = axes_kernel,
    .in = holds_kernel,
    .out = gives_kernel,
    .attributes = stored,
    .feeds = feeds,
    .cost = &cost};

}  // namespace taskspec::sw_block
