// INPUT: what comes from outside.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::input_block {

namespace {

using namespace block_parts;

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "INPUT",
    .number = 50,
    .kind = BlockKind::input,
    .doc = "What comes from outside: values of [y, x, f] or a vector [f], a parameter of its graph. Feeds storage.",
    .example =
        "ir relu {\n"
        "  x   : INPUT i32 [f: 4]\n"
        "  c   : CCMPB i8 [f: 4] (shift: 2, cmp: 0)\n"
        "  h   : SI i8 [f: 4]\n"
        "  z   : SO i8 [f: 4]\n"
        "  s   : SI i32 [f: 4]\n"
        "  x -> s\n"
        "  s -> c\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(relu([-8, 9, 20, 900] as i32[4]).z.array)\n"
        "// expect: [0, 2, 5, 127]\n",
    .axes = axes_yxf,
    .out = gives_yxf,
    .cost = &no_memory};

}  // namespace taskspec::input_block
