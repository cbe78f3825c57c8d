// SIC: the input of a CC.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::sic_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CC"};
constexpr BlockAxis order[] = {r, x, y};
constexpr BlockCost cost{.aligned = r, .alignment = 16, .order = order};

}  // namespace

extern constinit const BlockDef record =
    BlockFields{.name = "SIC",
                .number = 4,
                .kind = BlockKind::storage,
                .doc = "The input of a convolution: values of [y, x, r]; what fills it calls its channels f. Feeds CC.",
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
                .axes = axes_yxr,
                .in = holds_yxr,
                .out = gives_yxr,
                .attributes = stored,
                .feeds = feeds,
                .cost = &cost};

}  // namespace taskspec::sic_block
