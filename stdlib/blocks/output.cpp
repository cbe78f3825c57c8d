// OUTPUT: what goes outside.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::output_block {

namespace {

using namespace block_parts;

constexpr ClusterDef takes[] = {{.name = "input", .axes = axes_yxf}};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "OUTPUT",
    .number = 51,
    .kind = BlockKind::output,
    .other_name = "SO",
    .doc =
        "What goes outside: values of [y, x, f] or a vector [f], an output of its graph. In a text it is called "
        "SO, too.",
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
    .in = takes,
    .cost = &no_memory};

}  // namespace taskspec::output_block
