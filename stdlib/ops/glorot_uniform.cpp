// glorot_uniform: first values of weights, uniform.
#include <cmath>

#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::glorot_uniform_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type}, seed_operand, stream_operand, call_operand};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Fans fans = fans_of(call.out[0]);
  const double limit = std::sqrt(6 / (fans.in + fans.out));
  return uniform_kernel(call.out[0], -limit, limit);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "glorot_uniform",
    .operands = operands,
    .doc =
        "First values of weights [outputs, inputs, ...]: uniform in [-a, a) with a = sqrt(6 / (fan in + fan out)), "
        "where "
        "the fans are inputs and outputs times the elements of the window. Less than two axes are E2001. Seed, stream "
        "and call as for `uniform`.",
    .example =
        "let w = glorot_uniform(f64[3, 3], seed: 1)\n"
        "print(w.abs().max().scalar <= 1.0)\n"
        "// expect: true\n",
    .type = [](RuleContext& c) { return weight_type(c, "glorot_uniform"); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::glorot_uniform_op
