// uniform: random floats that are equally likely everywhere between two bounds.
#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::uniform_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                seed_operand,
                                {.name = "lo", .kind = OperandKind::real, .standard = 0.0},
                                {.name = "hi", .kind = OperandKind::real, .standard = 1.0},
                                stream_operand,
                                call_operand};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return uniform_kernel(call.out[0], call.attributes[2].real(), call.attributes[3].real());
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "uniform",
    .operands = operands,
    .doc =
        "Random floats, equally likely everywhere in [lo, hi), from Philox 4x32-10: equal arguments give equal "
        "numbers. "
        "The seed is 64 bits, stream and call 32 (E1003); other streams and calls give other numbers. Each of them is "
        "an int or a tensor of one i64. f32 and f16 use 24 random bits, f64 uses 53.",
    .example =
        "let x = uniform(f64[1000], seed: 1)\n"
        "print(x.min().scalar >= 0.0, x.max().scalar < 1.0, close(x.mean().scalar, 0.5, rel: 0.05))\n"
        "// expect: true true true\n",
    .type = [](RuleContext& c) { return random_type(c, "uniform"); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::uniform_op
