// CLIF: leaky integrate-and-fire neurons.
#include "stdlib/blocks/cycles.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::clif_block {

namespace {

using namespace block_parts;

constexpr BlockPrecisions precisions[] = {
    {Precision::i32, Precision::i32}, {Precision::i32, Precision::i8}, {Precision::i32, Precision::tern}};
bool has_thresholds(const TaskBlock& block) { return block.attribute("vtheta_const_en") == 0; }
bool has_masks(const TaskBlock& block) { return block.attribute("vm_const_en") == 0; }

constexpr ClusterDef in[] = {
    {.name = "input", .axes = axes_yxf},
    {.name = "state", .axes = axes_yxf, .state = true, .precisions = potentials},
    {.name = "refractory", .axes = axes_yxf, .optional = true, .state = true, .precisions = counts},
    {.name = "threshold",
     .axes = axes_yxf,
     .optional = true,
     .state = true,
     .present = has_thresholds,
     .precisions = potentials},
    {.name = "mask", .axes = axes_yxf, .optional = true, .present = has_masks, .precisions = wide}};
constexpr const BlockAttributeDef* attributes[] = {&attribute::vth0,         &attribute::vth_alpha,
                                                   &attribute::vth_beta,     &attribute::vth_incre,
                                                   &attribute::vr,           &attribute::vl,
                                                   &attribute::vleaky_alpha, &attribute::vleaky_beta,
                                                   &attribute::dv,           &attribute::ref_len,
                                                   &attribute::tw_cnt,       &attribute::vinit,
                                                   &attribute::tw_len,       &attribute::seed,
                                                   &attribute::vth_adpt_en,  &attribute::vleaky_adpt_en,
                                                   &attribute::tw_en,        &attribute::reset_mode,
                                                   &attribute::fire_type,    &attribute::vm_const_en,
                                                   &attribute::vm_const,     &attribute::vtheta_const_en,
                                                   &attribute::vtheta_const, &attribute::shift};

// The shift register and the counter of the window, and per neuron its rest and threshold where no storage has them.
std::int64_t memory(const TaskBlock& block) {
  const bool draws = block.attribute("vm_const_en") == 0 || block.attribute("vm_const") != 0;
  const bool keeps = draws || block.attribute("tw_en") != 0 || block.attribute("ref_len") != 0 ||
                     block.attribute("vth_incre") != 0 || block.attribute("vth_beta") != 0 ||
                     block.attribute("vth_adpt_en") != 0;
  return keeps ? 16 + 8 * value_type(block).elements() : 0;
}

// A neuron keeps its potential of 28 bits and its rest of 4 in one word, its threshold in another.
constexpr BlockCost cost{.operations = [](const TaskBlock& b) { return 12 * pixels(b) * b.shape.f; },
                         .cycles = [](const TaskBlock& b, const BlockUse&,
                                      const CycleFigures&) { return pixels(b) * divided_up(b.shape.f, 4) * 7; },
                         .port_bytes =
                             [](const TaskBlock& b, const BlockUse& use, const CycleFigures&) {
                               const std::int64_t neurons = pixels(b) * b.shape.f;
                               const std::int64_t words = 1 + (has_thresholds(b) ? 1 : 0);  // written back
                               return PortBytes{
                                   bytes_of(neurons, use.in) + 4 * neurons * (words + (has_masks(b) ? 1 : 0)),
                                   4 * neurons * words + bytes_of(neurons, b.precision)};
                             }};

}  // namespace

extern constinit const BlockDef record = BlockFields{
    .name = "CLIF",
    .number = 19,
    .kind = BlockKind::soma,
    .doc =
        "One step of leaky integrate-and-fire neurons, in integers of 28 bits that saturate: V1 = state + input, "
        "unless the neuron rests; it spikes where V1 > max(vth0 + threshold + random part, vl); then the reset "
        "(reset_mode: 0 to vr, 1 minus the threshold, 2 minus dv, 3 none), then the leak: times vleaky_alpha / "
        "256, rounded down, with vleaky_adpt_en, plus vleaky_beta, at least vl. After a spike ref_len steps go "
        "without input. threshold changes by vth_alpha / 256 with vth_adpt_en, by vth_beta, and by vth_incre "
        "after a spike. With tw_en each tw_len + 1 steps the state begins at vinit again. The random part is what "
        "a mask leaves of a shift register that begins with seed. The new contents of state, refractory and "
        "threshold go back to the storage that feeds them. fire_type says what comes out. The input is i32; the "
        "result i32 (fire_type 0, 1, 6), i8 (2, 3, 4, 7) or tern (5). In rabbit mode: hard reset to vr, leak, and "
        "no more.",
    .example =
        "ir spikes {\n"
        "  u   : SI i32 [f: 2]\n"
        "  v   : SI i28 [f: 2] = [0, 90] as i28[2]\n"
        "  c   : CLIF i8 [f: 2] (vth0: 100, vleaky_beta: -2)\n"
        "  h   : SI i8 [f: 2]\n"
        "  z   : SO i8 [f: 2]\n"
        "  u -> c.input\n"
        "  v -> c.state\n"
        "  c -> h\n"
        "  h -> z\n"
        "}\n"
        "print(spikes([30, 30] as i32[2]).z.array)\n"
        "// expect: [0, 1]\n",
    .axes = axes_yxf,
    .in = in,
    .out = gives_yxf,
    .attributes = attributes,
    .precisions = precisions,
    .memory = memory,
    .check = check_neurons,
    .numerics = &neuron_steps,
    .cost = &cost,
    .rewrites = &cut_neurons,
    .reverse = &reverse_neurons};

}  // namespace taskspec::clif_block
