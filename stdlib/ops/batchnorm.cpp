// batchnorm: every channel brought to mean 0 and variance 1 over the batch, then scaled and shifted.
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Extents& x = call.in[0].extents;
  std::int64_t pixels = 1;
  for (std::size_t d = 2; d < x.size(); ++d) pixels *= x[d];
  return standardise_kernel({.precision = call.in[0].precision,
                             .groups = call.in[0].elements() == 0 ? 0 : x[1],
                             .pieces = x[0],
                             .length = pixels,
                             .group_step = pixels,
                             .piece_step = x[1] * pixels,
                             .epsilon = call.attributes[3].real()});
}

void gradient(GradientBuilder& g) {
  const Extents& x = g.call().in[0].extents;
  Extents shape(x.size(), 1);
  shape[1] = x[1];
  List axes;
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d != 1) axes.push_back(Value(static_cast<std::int64_t>(d)));
  standardising_gradient(g, Value(Tuple{axes}), shape);
}

}  // namespace

extern constinit const OpDef op_batchnorm = OpFields{
    .name = "batchnorm",
    .operands = standardising_operands,
    .doc =
        "Brings each channel of x [B, C, ...] to mean 0 and variance 1 over all other axes (of this batch; eps is "
        "added "
        "to the variance), then times scale [C] plus shift [C]. Floats of one precision (E2002), shapes that differ "
        "are E2001.",
    .example =
        "let x = [[1.0, 10.0], [3.0, 30.0]] as f32[2, 2]\n"
        "print(x.batchnorm([1.0, 2.0] as f32[2], fill(f32[2], 0.0), eps: 0.0).array)\n"
        "// expect: [[-1, -2], [1, 2]]\n",
    .type = [](RuleContext& c) { return standardising_type(c, "batchnorm", 2, 1); },
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = Lowering::later(),
    .sharding = Sharding::none(with_planner),
    .work = standardising_work,
    .tolerance = standardising_tolerance,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec
