// bernoulli: random zeros and ones.
#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::bernoulli_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                seed_operand,
                                {.name = "p", .kind = OperandKind::real, .standard = 0.5},
                                stream_operand,
                                call_operand};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return bernoulli_kernel(call.out[0], call.attributes[2].real());
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "bernoulli",
    .operands = operands,
    .doc =
        "1 with probability p, else 0, of any precision (true and false in bool): where the `uniform` f32 of the same "
        "seed, stream and call is less than p.",
    .example =
        "let x = bernoulli(f32[1000], seed: 1, p: 0.25)\n"
        "print(close(x.mean().scalar, 0.25, abs: 0.05), bernoulli(bool[2], seed: 1, p: 1.0).array)\n"
        "// expect: true [true, true]\n",
    .type = [](RuleContext& c) { return random_type(c, "bernoulli", true); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::bernoulli_op
