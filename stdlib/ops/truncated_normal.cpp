// truncated_normal: random floats of the normal distribution, none of them far from the mean.
#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::truncated_normal_op {

namespace {

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return normal_kernel(call.out[0], call.attributes[2].real(), call.attributes[3].real(), 2.0);
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "truncated_normal",
             .operands = normal_operands,
             .doc =
                 "As `normal`, but an element more than two standard deviations from the mean is drawn again with the "
                 "next call, "
                 "until it is not.",
             .example =
                 "let x = truncated_normal(f64[1000], seed: 1, std: 0.5)\n"
                 "print(x.abs().max().scalar <= 1.0)\n"
                 "// expect: true\n",
             .type = [](RuleContext& c) { return random_type(c, "truncated_normal"); },
             .kernel = kernel,
             .gradient = Gradient::none(no_random_gradient),
             .lower = Lowering::none("a chip makes no random numbers"),
             .sharding = Sharding::none(numbered_elements),
             .work = random_work,
             .tolerance = 1e-6,
             .fusion = Fusion::opaque};

}  // namespace taskspec::truncated_normal_op
