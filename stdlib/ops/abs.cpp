// abs: the absolute value.
#include <cmath>
#include <functional>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::abs_op {

namespace {

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? wrapped(T{0}, x, std::minus<>{}) : x;
    else
      return x;
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "abs",
    .operands = unary_operands,
    .doc =
        "The absolute value of x, element by element; that of the smallest integer wraps to itself. Takes integers "
        "and floats (E2002) and host numbers.",
    .example =
        "print(([-1.5, 2.0] as f32[2]).abs().array, abs(-3))\n"
        "// expect: [1.5, 2] 3\n",
    .type = [](RuleContext& c) { return numeric(c, "abs", Takes::numbers, 1, true); },
    .kernel = unary_kernel<Abs, Takes::numbers>,
    .scalar = scalar::abs,
    .gradient = {+[](GradientBuilder& g) { chain(g, g.emit(op_sign, {g.input(0)})); }, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::abs_op
