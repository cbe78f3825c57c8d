// SI: values on their way, features innermost.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::si_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"CADD", "CVVH", "CAX",  "CVS",    "CCMPB",    "CCMPS",
                                      "CLUT", "CLIF", "CAVG", "SWITCH", "PREDICATE"};
constexpr BlockAxis order[] = {f, x, y};
constexpr BlockCost cost{.aligned = f, .alignment = 16, .wide_alignment = 128, .order = order};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SI",
    .number = 0,
    .kind = BlockKind::storage,
    .doc =
        "Values of [y, x, f], or a vector [f]. Without data and without an edge that fills it, it is a parameter "
        "of its graph; one that a block keeps its state in begins with its data, or with zeros. Feeds blocks that "
        "work point by point, pools, tables and neurons.",
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
    .axes = axes_yxf,
    .in = holds_yxf,
    .out = gives_yxf,
    .attributes = stored,
    .feeds = feeds,
    .cost = &cost};

}  // namespace taskspec::si_block
