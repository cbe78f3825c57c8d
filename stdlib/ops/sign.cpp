// sign: -1, 0 or 1 by the sign of x.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sign_op {

namespace {

struct Sign {
  template <class T>
  T operator()(T x) const {
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // zero and nan stay
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sign",
    .operands = unary_operands,
    .doc =
        "-1, 0 or 1 by the sign of x, element by element; nan stays. Takes integers and floats (E2002) and host "
        "numbers.",
    .example =
        "print(([-1.5, 0.0, 2.0] as f32[3]).sign().array, sign(-3))\n"
        "// expect: [-1, 0, 1] -1\n",
    .type = [](RuleContext& c) { return numeric(c, "sign", Takes::numbers, 1, true); },
    .kernel = unary_kernel<Sign, Takes::numbers>,
    .scalar = scalar::sign,
    .gradient = Gradient::none(piecewise_constant),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::sign_op
