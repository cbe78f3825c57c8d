// cos: the cosine of an angle in radians.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::cos_op {

namespace {

struct Cos {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
  bool regular(float x) const { return std::fabs(x) < 0x1p20f; }
  float fast(float x) const { return static_cast<float>(float_math::sine(x, 1)); }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "cos",
    .operands = unary_operands,
    .doc = "The cosine of an angle in radians, element by element. Takes floats (E2002) and host numbers.",
    .example =
        "print(([0.0, 1.0] as f64[2]).cos().array, cos(0))\n"
        "// expect: [1, 0.5403023058681398] 1\n",
    .type = [](RuleContext& c) { return numeric(c, "cos", Takes::floats, 1, false); },
    .kernel = unary_kernel<Cos, Takes::floats>,
    .scalar = scalar::real_function<std::cos>,
    .gradient = {+[](GradientBuilder& g) { chain(g, g.emit(op_neg, {g.emit(op_sin, {g.input(0)})})); }, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<20>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::cos_op
