// softmax: positive numbers that sum to 1 along an axis.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/normalising.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::softmax_op {

namespace {

Type type(RuleContext& ctx) { return softmax_type(ctx, "softmax"); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return softmax_kernel(softmax_plan(call, false)); }

// dx = y (dy - sum of y dy along the axis)
void gradient(GradientBuilder& g) {
  GradientBuilder::Var weighted = g.emit(op_mul, {g.output(), g.upstream()});
  GradientBuilder::Var mean = g.emit(op_sum, {weighted, softmax_axis(g.call())});
  g.add(0, g.emit(op_mul, {g.output(), g.emit(op_sub, {g.upstream(), mean})}));
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "softmax",
             .operands = softmax_operands,
             .doc =
                 "exp(x) over its sum along an axis, the last one when it is left out; computed so that large x do not "
                 "overflow. Floats; a nan makes its whole line nan.",
             .example =
                 "print(([1.0, 1.0, 1.0, 1.0] as f32[4]).softmax().array)\n"
                 "// expect: [0.25, 0.25, 0.25, 0.25]\n",
             .type = type,
             .kernel = kernel,
             .gradient = {gradient, {.outputs = 1}},
             .lower =
                 +[](BlockBuilder& b, const OpInstance&) {
                   b.leave_to_host("it needs an exponential, a sum and a division of numbers that differ widely");
                 },
             .sharding = softmax_splits,
             .work = softmax_work,
             .tolerance = 1e-6,
             .fusion = Fusion::opaque,
             .sharing = Sharing::in_place};

}  // namespace taskspec::softmax_op
