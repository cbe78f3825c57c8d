// glorot_normal: first values of weights, normal.
#include <cmath>

#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::glorot_normal_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type}, seed_operand, stream_operand, call_operand};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Fans fans = fans_of(call.out[0]);
  return normal_kernel(call.out[0], 0, std::sqrt(2 / (fans.in + fans.out)));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "glorot_normal",
    .operands = operands,
    .doc =
        "First values of weights [outputs, inputs, ...]: normal with mean 0 and standard deviation sqrt(2 / (fan in + "
        "fan out)), where the fans are inputs and outputs times the elements of the window. Less than two axes are "
        "E2001. Seed, stream and call as for `uniform`.",
    .example =
        "let w = glorot_normal(f64[100, 100], seed: 1)\n"
        "print(close((w * w).mean().scalar, 0.01, rel: 0.05))\n"
        "// expect: true\n",
    .type = [](RuleContext& c) { return weight_type(c, "glorot_normal"); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .tolerance = 1e-6,
    .fusion = Fusion::opaque};

}  // namespace taskspec::glorot_normal_op
