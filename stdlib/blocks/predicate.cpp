// PREDICATE: a comparison that makes a token.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::predicate_block {

namespace {

using namespace block_parts;

constexpr BlockPrecisions precisions[] = {{Precision::i32, Precision::i8},
                                          {Precision::i28, Precision::i8},
                                          {Precision::i8, Precision::i8},
                                          {Precision::u8, Precision::i8},
                                          {Precision::tern, Precision::i8}};

// What it reads is one line of values: of `f`, whatever the place that they come from looks like.
Extents read_extents(const TaskBlock& block) { return {std::max<std::int64_t>(1, block.shape.f)}; }

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_f, .extents = read_extents}};
constexpr BlockAxis axes[] = {y, x, f};
constexpr const BlockAttributeDef* attributes[] = {&attribute::cmp, &attribute::compare};

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return std::max<std::int64_t>(1, b.shape.f) + 1; },
                         .cycles =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
                               return soma_lines(std::max<std::int64_t>(1, b.shape.f), use.in, chip) + 1;
                             },
                         .port_bytes = compare_bytes};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "PREDICATE",
    .number = 201,
    .kind = BlockKind::control,
    .doc =
        "Compares the sum of its f values, saturated to 32 bits after every addition, with cmp, and makes a token for "
        "a SWITCH of y inputs and x outputs: where the comparison holds, ones on the diagonal (row = column), else "
        "ones where row + column is 1. So a token [1, 2] lets its input go to the first output or to the second, "
        "[2, 1] takes the first input or the second, [2, 2] keeps or exchanges them, [1, 1] is 1 or 0: what triggers "
        "a group. compare is \"gt\" (the standard), \"ge\", \"lt\", \"le\", \"eq\" or \"ne\". Of spikes the sum is "
        "their count. Inputs are i32, i28, i8, u8 or tern, the token i8. Task IR files have no such block.",
    .example =
        "ir sides {\n"
        "  x   : SI i32 [f: 2]\n"
        "  p   : PREDICATE i8 [y: 1, x: 2, f: 2] (compare: \"ge\", cmp: 10)\n"
        "  t   : SS i8 [y: 1, x: 2]\n"
        "  z   : SO i8 [y: 1, x: 2]\n"
        "  x -> p\n"
        "  p -> t\n"
        "  t -> z\n"
        "}\n"
        "print(sides([4, 6] as i32[2]).z.array, sides([4, 5] as i32[2]).z.array)\n"
        "// expect: [[1, 0]] [[0, 1]]\n",
    .axes = axes,
    .in = in,
    .out = gives_yx,
    .attributes = attributes,
    .precisions = precisions,
    .numerics = &sum_tests,
    .cost = &cost,
    .rewrites = &uncut,
    .reverse = &reverse_none_of_tests};

}  // namespace taskspec::predicate_block
