// sin: the sine of an angle in radians.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sin_op {

namespace {

struct Sin {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
  bool regular(float x) const { return std::fabs(x) < 0x1p20f; }
  float fast(float x) const { return static_cast<float>(float_math::sine(x, 0)); }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sin",
    .operands = unary_operands,
    .doc = "The sine of an angle in radians, element by element. Takes floats (E2002) and host numbers.",
    .example =
        "print(([0.0, 1.0] as f64[2]).sin().array, sin(0))\n"
        "// expect: [0, 0.8414709848078965] 0\n",
    .type = [](RuleContext& c) { return numeric(c, "sin", Takes::floats, 1, false); },
    .kernel = unary_kernel<Sin, Takes::floats>,
    .scalar = scalar::real_function<std::sin>,
    .gradient = {+[](GradientBuilder& g) { chain(g, g.emit(op_cos, {g.input(0)})); }, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<20>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::sin_op
