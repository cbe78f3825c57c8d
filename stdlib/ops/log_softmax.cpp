// log_softmax: the logarithm of softmax.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/normalising.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::log_softmax_op {

namespace {

Type type(RuleContext& ctx) { return softmax_type(ctx, "log_softmax"); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return softmax_kernel(softmax_plan(call, true)); }

// dx = dy - exp(y) * sum of dy along the axis
void gradient(GradientBuilder& g) {
  GradientBuilder::Var total = g.emit(op_sum, {g.upstream(), softmax_axis(g.call())});
  g.add(0, g.emit(op_sub, {g.upstream(), g.emit(op_mul, {g.emit(op_exp, {g.output()}), total})}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "log_softmax",
    .operands = softmax_operands,
    .doc =
        "The logarithm of softmax along an axis, the last one when it is left out: x minus the logarithm of the sum "
        "of exp(x), exact where softmax itself is too small. Floats; a nan makes its whole line nan.",
    .example =
        "let x = [0.0, 1000.0] as f32[2]\n"
        "print(x.log_softmax().array)\n"
        "// expect: [-1000, 0]\n",
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

}  // namespace taskspec::log_softmax_op
