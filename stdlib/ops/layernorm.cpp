// layernorm: every row brought to mean 0 and variance 1, then scaled and shifted.
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const std::int64_t length = call.in[0].extents.back(), count = call.in[0].elements();
  return standardise_kernel({.precision = call.in[0].precision,
                             .groups = length == 0 ? 0 : count / length,
                             .length = length,
                             .group_step = length,
                             .factor_per_element = true,
                             .epsilon = call.attributes[3].real()});
}

void gradient(GradientBuilder& g) {
  const Extents& x = g.call().in[0].extents;
  Extents shape(x.size(), 1);
  shape.back() = x.back();
  standardising_gradient(g, Value(static_cast<std::int64_t>(x.size()) - 1), shape);
}

}  // namespace

extern constinit const OpDef op_layernorm = OpFields{
    .name = "layernorm",
    .operands = standardising_operands,
    .doc =
        "Brings each row along the last axis to mean 0 and variance 1 (of its elements; eps is added to the variance), "
        "then times scale [N] plus shift [N] for an axis of N. Floats of one precision (E2002), shapes that differ are "
        "E2001.",
    .example =
        "let one = fill(f32[2], 1.0)\n"
        "print(([[1.0, 3.0], [5.0, 5.0]] as f32[2, 2]).layernorm(one, one, eps: 0.0).array[0])\n"
        "// expect: [0, 2]\n",
    .type = [](RuleContext& c) { return standardising_type(c, "layernorm", 1, -1); },
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = Lowering::later(),
    .sharding = Sharding::none(with_planner),
    .work = standardising_work,
    .tolerance = standardising_tolerance,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec
