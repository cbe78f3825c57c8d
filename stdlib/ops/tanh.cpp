// tanh: the hyperbolic tangent of x.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::tanh_op {

namespace {

struct Tanh {
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
  bool regular(float x) const { return x == x; }
  float fast(float x) const {
    double size = std::fabs(x);
    double above = 1 - 2 / (float_math::exp(std::min(2 * size, 60.0)) + 1);
    return std::copysign(static_cast<float>(size < 1e-4 ? size : above), x);  // x^3 / 3 is far below one digit
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "tanh",
    .operands = unary_operands,
    .doc = "The hyperbolic tangent of x, element by element. Takes floats (E2002) and host numbers.",
    .example =
        "print(([0.0, 1.0] as f64[2]).tanh().array, tanh(0))\n"
        "// expect: [0, 0.7615941559557649] 0\n",
    .type = [](RuleContext& c) { return numeric(c, "tanh", Takes::floats, 1, false); },
    .kernel = unary_kernel<Tanh, Takes::floats>,
    .scalar = scalar::real_function<std::tanh>,
    .gradient = {+[](GradientBuilder& g) {
                   chain(g, g.emit(op_sub, {Value(1.0), g.emit(op_mul, {g.output(), g.output()})}));
                 },
                 {.outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<24>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::tanh_op
