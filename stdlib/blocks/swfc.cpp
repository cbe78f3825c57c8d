// SWFC: weights of a CVM.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::swfc_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CVM"};
constexpr BlockAxis order[] = {f, r};
constexpr BlockCost cost{.aligned = f, .alignment = 32, .order = order, .is_grouped = true};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SWFC",
    .number = 6,
    .kind = BlockKind::data,
    .doc =
        "The weights of a product of vector and matrix: [f, r]. Static, or computed: filled by an edge. Feeds "
        "CVM.",
    .example =
        "ir dense {\n"
        "  x   : SIFC i8 [r: 3]\n"
        "  w   : SWFC i8 [f: 2, r: 3] = fill(2)\n"
        "  b   : SB i32 [f: 2] = fill(100)\n"
        "  c   : CVM i32 [f: 2, r: 3]\n"
        "  h   : SI i32 [f: 2]\n"
        "  z   : SO i32 [f: 2]\n"
        "  x -> c.input\n"
        "  w -> c.weight\n"
        "  b -> c.bias\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(dense([1, 2, 3] as i8[3]).z.array)\n"
        "// expect: [112, 112]\n",
    .axes = axes_fr,
    .in = holds_fr,
    .out = gives_fr,
    .attributes = stored,
    .feeds = feeds,
    .cost = &cost};

}  // namespace taskspec::swfc_block
