// isnan: whether x is nan.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::isnan_op {

namespace {

struct IsNan {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  return Type::tensor(Precision::boolean, tensor_operand(c, "isnan", 0, Takes::floats).dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::floats>(call.in[0].precision,
                                   [&](auto x) { return map_kernel<std::uint8_t, decltype(x)>(call, IsNan{}); });
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "isnan",
    .operands = unary_operands,
    .doc = "Whether x is nan, element by element: a bool tensor. Takes floats (E2002).",
    .example =
        "print(([0.0, nan] as f32[2]).isnan().array)\n"
        "// expect: [false, true]\n",
    .type = type,
    .kernel = kernel,
    .gradient = Gradient::none(no_float_result),
    .lower = Lowering::none("a chip has no floats"),
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
};

}  // namespace taskspec::isnan_op
