// SS: tokens of switches.
#include "stdlib/blocks/parts.hpp"

namespace taskspec::ss_block {

namespace {

using namespace block_parts;

constexpr std::string_view feeds[] = {"SWITCH"};
constexpr BlockCost cost{.aligned = x, .alignment = 16};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SS",
    .number = 202,
    .kind = BlockKind::storage,
    .doc =
        "The token of a SWITCH: [y, x] zeros and ones, a row for each of its inputs, a column for each of its "
        "outputs. Static, a parameter of its graph, or filled by an edge. Task IR files have no such block.",
    .example =
        "ir crossed {\n"
        "  a : SI i8 [f: 1]\n"
        "  b : SI i8 [f: 1]\n"
        "  t : SS i8 [y: 2, x: 2] = [[0, 1], [1, 0]] as i8[2, 2]\n"
        "  s : SWITCH i8 [f: 1] (outputs: 2)\n"
        "  c : SO i8 [f: 1]\n"
        "  d : SO i8 [f: 1]\n"
        "  a -> s.input\n"
        "  b -> s.input2\n"
        "  t -> s.token\n"
        "  s.output -> c\n"
        "  s.output2 -> d\n"
        "}\n"
        "let made = crossed([1] as i8[1], [2] as i8[1])\n"
        "print(made.c.array, made.d.array)\n"
        "// expect: [2] [1]\n",
    .axes = axes_yx,
    .in = holds_yx,
    .out = gives_yx,
    .feeds = feeds,
    .cost = &cost};

}  // namespace taskspec::ss_block
