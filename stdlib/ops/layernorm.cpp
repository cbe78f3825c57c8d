// layernorm: every row brought to mean 0 and variance 1, then scaled and shifted.
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec::layernorm_op {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return standardise_kernel(rows_plan(call.in[0], call.attributes[3].real()));
}

// The scale meets x as it is without scale and shift.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  const Value &eps = call.attributes[3], factor(Type::of(call.in[1].type()));
  g.add(0, g.emit(op_layernorm_input_grad, {g.input(0), g.upstream(), g.input(1), eps}));
  const GradientBuilder::Var ones = g.emit(op_fill, {factor, Value(1.0)}),
                             zeros = g.emit(op_fill, {factor, Value(0.0)}),
                             plain = g.emit(op_layernorm, {g.input(0), ones, zeros, eps});
  add_reduced(g, 1, g.emit(op_mul, {g.upstream(), plain}));
  add_reduced(g, 2, g.upstream());
}

}  // namespace

extern constinit const OpDef record = OpFields{
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
    .lower =
        Lowering::none("it divides each row by a deviation of its own, and a chip does not divide by what it computes"),
    .sharding = +[](const OpInstance& call) { return splits_beside(call, {call.in[0].extents.size() - 1}); },
    .work = standardising_work,
    .tolerance = standardising_tolerance,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec::layernorm_op
