// SWITCH: inputs that go to the outputs that a token says.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::switch_block {

namespace {

using namespace block_parts;

constexpr BlockPrecisions precisions[] = {{Precision::i32, Precision::i32}, {Precision::i28, Precision::i28},
                                          {Precision::i16, Precision::i16}, {Precision::i8, Precision::i8},
                                          {Precision::u8, Precision::u8},   {Precision::tern, Precision::tern}};

Extents token_extents(const TaskBlock& block) {
  return {block.branches, static_cast<std::int64_t>(block.out_clusters())};
}

constexpr ClusterDef in[] = {
    {.name = "input", .axes = axes_yxf, .repeated = true},
    {.name = "token", .axes = axes_yx, .precisions = narrow, .extents = token_extents, .chooses = true}};
constexpr ClusterDef out[] = {{.name = "output", .axes = axes_yxf, .repeated = true}};
constexpr const BlockAttributeDef* attributes[] = {&attribute::outputs, &attribute::ports};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f; },
                         .cycles =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
                               return pixels(b) * soma_lines(b.shape.f, use.in, chip) * 2;  // in, out
                             },
                         .port_bytes = compare_bytes};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "SWITCH",
    .number = 200,
    .kind = BlockKind::control,
    .doc =
        "Lets inputs through as a token says: a matrix of zeros and ones, a row for each of the inputs input, input2, "
        "..., a column for each of the `outputs` outputs output, output2, ...; a one lets the input of its row go to "
        "the output of its column. A column has at most one (E4033); where it has none nothing goes there, and what "
        "follows does not run in this step: it keeps what it made last. All inputs and outputs have the block's "
        "extents and precision. With ports: \"and\" it waits for all of its inputs and drops those that the token "
        "does not take; with \"or\" it waits for those alone, and others that come are an error (E4032). What waits "
        "for ever is one, too (E4031). The token is i8, u8 or tern: static, or made by other blocks, as a rule a "
        "PREDICATE. Task IR files have no such block.",
    .example =
        "ir either {\n"
        "  a : SI i8 [f: 2]\n"
        "  b : SI i8 [f: 2]\n"
        "  t : SS i8 [y: 2, x: 1]\n"
        "  s : SWITCH i8 [f: 2]\n"
        "  h : SI i8 [f: 2]\n"
        "  z : SO i8 [f: 2]\n"
        "  a -> s.input\n"
        "  b -> s.input2\n"
        "  t -> s.token\n"
        "  s -> h\n"
        "  h -> z\n"
        "}\n"
        "let (a, b) = ([1, 2] as i8[2], [3, 4] as i8[2])\n"
        "print(either(a, b, [[1], [0]] as i8[2, 1]).z.array, either(a, b, [[0], [1]] as i8[2, 1]).z.array)\n"
        "// expect: [1, 2] [3, 4]\n",
    .axes = axes_yxf,
    .in = in,
    .out = out,
    .attributes = attributes,
    .precisions = precisions,
    .numerics = &token_moves,
    .control = &token_choice,
    .cost = &cost,
    .rewrites = &uncut,
    .reverse = &reverse_none_of_switches};

}  // namespace taskspec::switch_block
