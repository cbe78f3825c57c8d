// normal: random floats of the normal distribution.
#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::normal_op {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return normal_kernel(call.out[0], call.attributes[2].real(), call.attributes[3].real());
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "normal",
    .operands = normal_operands,
    .doc =
        "Random floats of the normal distribution with this mean and standard deviation: each pair of elements from "
        "two "
        "uniform f64 u1, u2, as sqrt(-2 ln(1 - u1)) times cos and sin of 2 pi u2; computed in f64 and rounded once. "
        "Seed, stream and call as for `uniform`.",
    .example =
        "let x = normal(f64[10000], seed: 1, mean: 3.0)\n"
        "print(close(x.mean().scalar, 3.0, abs: 0.05), close(((x - 3.0) * (x - 3.0)).mean().scalar, 1.0, abs: 0.05))\n"
        "// expect: true true\n",
    .type = [](RuleContext& c) { return random_type(c, "normal"); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .tolerance = 1e-6,
    .fusion = Fusion::opaque};

}  // namespace taskspec::normal_op
