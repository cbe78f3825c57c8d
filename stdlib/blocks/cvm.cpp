// CVM: product of a vector and a matrix.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::cvm_block {

namespace {

using namespace block_parts;

constexpr ClusterDef in[] = {
    {.name = "input", .axes = axes_r}, {.name = "weight", .axes = axes_fr, .precisions = narrow}, bias};
constexpr const BlockAttributeDef* attributes[] = {&attribute::constant_b};

// As many as a line of weights has one each for, and there are multipliers.
std::int64_t outputs_together(const BlockUse& use, const CycleFigures& chip) {
  return std::min(chip.axon_bytes_per_clk * 8 / packed_bits(use.weight), chip.pixels * chip.outputs);
}

constexpr BlockCost cost{
    .multiply_adds = [](const TaskBlock& b) { return b.shape.f * b.shape.r; },
    .cycles =
        [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
          const std::int64_t group = outputs_together(use, chip);
          const std::int64_t lines = divided_up(b.shape.r, per_line(use.in));
          const std::int64_t each =
              bias_clk(b, group, chip) + lines + lines * per_line(use.in) + write_clk(group, chip);
          return divided_up(b.shape.f, group) * each;
        },
    // The input once for each group of outputs.
    .port_bytes =
        [](const TaskBlock& b, const BlockUse& use, const CycleFigures& chip) {
          const std::int64_t group = outputs_together(use, chip);
          const std::int64_t weights = bytes_of(b.shape.f * b.shape.r, use.weight);
          return PortBytes{weights + divided_up(b.shape.f, group) * bytes_of(b.shape.r, use.in) + bias_bytes(b, 1),
                           written_sums(b)};
        }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CVM",
    .number = 10,
    .kind = BlockKind::axon,
    .doc =
        "Product of a vector and a matrix: out[f] = bias[f] + sum over r of in[r] * weight[f, r]; from the bias "
        "on, r ascending, a 64-bit product, saturated to 32 bits after every addition. Inputs and weights are i8, "
        "u8 or tern, the result i32. The bias may be one number, constant_b.",
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
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = narrow_to_wide,
    .numerics = &window_products,
    .cost = &cost,
    .rewrites = &cut_vector_sums,
    .reverse = &reverse_matrix,
    .nest = nest_of_windows};

}  // namespace taskspec::cvm_block
