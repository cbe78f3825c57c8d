// exp: e to the power of x.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::exp_op {

namespace {

struct Exp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
  bool regular(float x) const { return std::fabs(x) < 700; }
  float fast(float x) const { return static_cast<float>(float_math::exp(x)); }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "exp",
    .operands = unary_operands,
    .doc = "e to the power of x, element by element; too large gives inf. Takes floats (E2002) and host numbers.",
    .example =
        "print(([0.0, 1.0] as f64[2]).exp().array, exp(0))\n"
        "// expect: [1, 2.718281828459045] 1\n",
    .type = [](RuleContext& c) { return numeric(c, "exp", Takes::floats, 1, false); },
    .kernel = unary_kernel<Exp, Takes::floats>,
    .scalar = scalar::real_function<std::exp>,
    .gradient = {+[](GradientBuilder& g) { chain(g, g.output()); }, {.outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<20>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::exp_op
