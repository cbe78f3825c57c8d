// batchnorm: every channel brought to mean 0 and variance 1 over the batch, then scaled and shifted.
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec::batchnorm_op {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return standardise_kernel(channels_plan(call.in[0], call.attributes[3].real()));
}

void gradient(GradientBuilder& g) {
  add_channel_gradients(g, g.emit(op_batchnorm_sums, {g.input(0), g.upstream(), g.call().attributes[3]}), 1);
}

// Parts of a batch have its mean and variance in common.
std::vector<CallBuilder::Var> made_of(CallBuilder& b) {
  const CallBuilder::Var x = b.input(0);
  return {standardised(b, x, batch_moments(b, x), b.input(1), b.input(2), b.call().attributes[3].real())};
}

std::vector<Split> splits(const OpInstance& call) { return channel_splits(call, made_of); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "batchnorm",
    .operands = standardising_operands,
    .doc =
        "Brings each channel of x [B, C, ...] to mean 0 and variance 1 over all other axes (of this batch; eps is "
        "added to the variance), then times scale [C] plus shift [C]; `running_batchnorm` keeps both. Floats of one "
        "precision (E2002), shapes that differ are E2001.",
    .example =
        "let x = [[1.0, 10.0], [3.0, 30.0]] as f32[2, 2]\n"
        "print(x.batchnorm([1.0, 2.0] as f32[2], fill(f32[2], 0.0), eps: 0.0).array)\n"
        "// expect: [[-1, -2], [1, 2]]\n",
    .type = [](RuleContext& c) { return standardising_type(c, "batchnorm", 2, 1); },
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = Lowering::none("it takes mean and variance of the batch at hand; running_batchnorm keeps them"),
    .sharding = splits,
    .work = standardising_work,
    .tolerance = standardising_tolerance,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec::batchnorm_op
