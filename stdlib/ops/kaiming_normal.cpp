// kaiming_normal: first values of weights before a relu.
#include <cmath>

#include "stdlib/ops/random.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::kaiming_normal_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                seed_operand,
                                {.name = "mode", .kind = OperandKind::string, .standard = "fan_in"},
                                stream_operand,
                                call_operand};

Type type(RuleContext& c) {
  Type result = weight_type(c, "kaiming_normal");
  if (result.is(Type::Kind::error)) return result;
  const Value* mode = c.constant(2);
  if (mode && mode->string() != "fan_in" && mode->string() != "fan_out")
    refuse(c, "E1003", "mode is \"fan_in\" or \"fan_out\", not " + in_quotes(mode->string()), 2);
  return result;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Fans fans = fans_of(call.out[0]);
  const double fan = call.attributes[2].string() == "fan_in" ? fans.in : fans.out;
  return normal_kernel(call.out[0], 0, std::sqrt(2 / fan));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "kaiming_normal",
    .operands = operands,
    .doc =
        "First values of weights [outputs, inputs, ...] in front of a relu: normal with mean 0 and standard deviation "
        "sqrt(2 / fan), the fan in, or with mode \"fan_out\" the fan out: inputs or outputs times the elements of the "
        "window. Less than two axes are E2001. Seed, stream and call as for `uniform`.",
    .example =
        "let w = kaiming_normal(f64[50, 200], seed: 1)\n"
        "print(close((w * w).mean().scalar, 0.01, rel: 0.05))\n"
        "// expect: true\n",
    .type = [](RuleContext& c) { return type(c); },
    .kernel = kernel,
    .gradient = Gradient::none(no_random_gradient),
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = Sharding::none(numbered_elements),
    .work = random_work,
    .tolerance = 1e-6,
    .fusion = Fusion::opaque};

}  // namespace taskspec::kaiming_normal_op
