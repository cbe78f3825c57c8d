// CLUT: a table read by values.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::clut_block {

namespace {

using namespace block_parts;

constexpr Precision entries[] = {Precision::i8, Precision::i32};
constexpr BlockPrecisions precisions[] = {{Precision::i8, Precision::i8},
                                          {Precision::i8, Precision::i32},
                                          {Precision::i32, Precision::i8},
                                          {Precision::i32, Precision::i32}};
std::int64_t table_length(const TaskBlock& block) { return std::int64_t{1} << block.attribute("lut_dw"); }

constexpr ClusterDef in[] = {{.name = "input", .axes = axes_yxf},
                             {.name = "table", .axes = axes_f, .precisions = entries, .length = table_length}};
constexpr const BlockAttributeDef* attributes[] = {&attribute::lut_dw, &attribute::shift};

// Of a line, whether there are elements for all of it or not.
std::int64_t look_ups(const TaskBlock& b, const CycleFigures& chip) {
  const std::int64_t lines = soma_lines(b.shape.f, b.precision, chip);
  return pixels(b) * lines * chip.soma_bytes_per_clk * 8 / packed_bits(b.precision);
}

constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return pixels(b) * b.shape.f; },
                         .only_reads = true,
                         .cycles =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
                               const std::int64_t lines =
                                   soma_lines(b.shape.f, use.in, chip) + soma_lines(b.shape.f, b.precision, chip);
                               return look_ups(b, chip) + pixels(b) * lines;
                             },
                         .port_bytes =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
                               const std::int64_t results = pixels(b) * b.shape.f;
                               return PortBytes{bytes_of(results, use.in) + bytes_of(look_ups(b, chip), b.precision),
                                                bytes_of(results, b.precision)};
                             }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CLUT",
    .number = 18,
    .kind = BlockKind::soma,
    .doc =
        "A table read by values: out = table[a], negative a counted from its end, where a is the input shifted by "
        "`shift` bits to the right, rounded down, and cut to what lut_dw bits hold: -2^(lut_dw - 1)..2^(lut_dw - "
        "1) - 1. An i8 input of a table of 256 is not shifted. The table has 2^lut_dw entries, lut_dw being 4, 8, "
        "12 or 16 (4 or 8 for i8 inputs); inputs are i8 or i32, entries and results i8 or i32. In rabbit mode "
        "nothing is shifted.",
    .example =
        "ir square {\n"
        "  x   : SI i8 [f: 3]\n"
        "  t   : SB i8 [f: 256] = lut(x => x * x)\n"
        "  c   : CLUT i8 [f: 3] (lut_dw: 8)\n"
        "  h   : SI i8 [f: 3]\n"
        "  z   : SO i8 [f: 3]\n"
        "  x -> c.input\n"
        "  t -> c.table\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(square([-3, 5, 100] as i8[3]).z.array)\n"
        "// expect: [9, 25, 127]\n",
    .axes = axes_yxf,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = precisions,
    .check = check_table,
    .numerics = &table_look_up,
    .cost = &cost,
    .rewrites = &cut_points,
    .reverse = &reverse_none_of_tables};

}  // namespace taskspec::clut_block
