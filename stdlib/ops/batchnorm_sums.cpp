// batchnorm_sums: what the reverse of batchnorm needs to know of each channel.
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec {

namespace {

constexpr Operand operands[] = {{"x"},
                                {"dy"},
                                {.name = "eps", .kind = OperandKind::real, .standard = 1e-5},
                                {.name = "mean", .standard = Default::absent()},
                                {.name = "variance", .standard = Default::absent()},
                                {.name = "training", .kind = OperandKind::integer, .standard = 1, .at_run = true}};
constexpr std::size_t eps = 2, mean = 3, variance = 4;

bool given(const RuleContext& c, std::size_t operand) { return !c.type(operand).is(Type::Kind::none); }

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "batchnorm_sums", 0, Takes::floats);
  if (x.rank() < 2) refuse(c, "E2001", "'batchnorm_sums' takes at least 2 axes, not " + x.text(), 0);
  require_like_x(c, "batchnorm_sums", 1);
  if (given(c, mean) != given(c, variance)) refuse(c, "E1003", "'batchnorm_sums' takes mean and variance, or neither");
  for (std::size_t kept : {mean, variance})
    if (given(c, kept)) require_per_channel(c, "batchnorm_sums", kept);
  return Type::tensor(sums_precision(x.precision), {Dim(static_cast<std::int64_t>(sum_rows)), x.dims[1]});
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return standardise_sums_kernel(channels_plan(call.in[0], call.attributes[eps].real()), call.in.size() == 5);
}

}  // namespace

extern constinit const OpDef op_batchnorm_sums =
    OpFields{.name = "batchnorm_sums",
             .operands = operands,
             .doc =
                 "Of each channel of x [B, C, ...], for the reverse of batchnorm: mean, one by the deviation, sum of "
                 "dy n and sum "
                 "of dy (the gradients of scale and shift; n is x with mean 0 and variance 1), and one by the number "
                 "of elements. "
                 "With `mean` and `variance` and a `training` of 0 those are meant, and the last row is 0. Floats; f16 "
                 "gives f32. "
                 "Shapes that differ are E2001, precisions E2002.",
             .example =
                 "let x = [[1.0], [3.0]] as f64[2, 1]\n"
                 "print(batchnorm_sums(x, [[10.0], [20.0]] as f64[2, 1], eps: 0.0).array)\n"
                 "// expect: [[2], [1], [10], [30], [0.5]]\n",
             .type = type,
             .kernel = kernel,
             .gradient = Gradient::none(no_second_derivative),
             .lower = Lowering::none("a chip does not train"),
             .sharding = Sharding::none(with_planner),
             .work = [](const OpInstance& call) -> Work {
               return {8 * static_cast<double>(call.in[0].elements()),
                       2 * static_cast<double>(call.in[0].bytes()) + static_cast<double>(call.out[0].bytes())};
             },
             .tolerance = standardising_tolerance,
             .fusion = Fusion::opaque};

}  // namespace taskspec
