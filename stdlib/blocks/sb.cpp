// SB: a static vector.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::sb_block {

namespace {

using namespace block_parts;

constexpr BlockAxis order[] = {f};
constexpr BlockCost cost{.aligned = f, .alignment = 16, .order = order};

}  // namespace

extern constinit const BlockDef record =
    BlockFields{.name = "SB",
                .number = 5,
                .kind = BlockKind::data,
                .doc =
                    "A static vector [f]: the bias of a sum, the factors of a CAX, the table of a CLUT, the masks and "
                    "thresholds of a CLIF.",
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
                .axes = axes_f,
                .in = holds_f,
                .out = gives_f,
                .cost = &cost};

}  // namespace taskspec::sb_block
