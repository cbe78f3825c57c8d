// ceil: the smallest integer that is not below x.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::ceil_op {

namespace {

struct Ceil {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

Value on_host(std::span<const Value> v) { return v[0].is_integer() ? v[0] : Value(std::ceil(v[0].real())); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "ceil",
    .operands = unary_operands,
    .doc =
        "The smallest integer that is not below x, element by element, still as a float. Takes floats (E2002) and "
        "host numbers; `as` converts to integers.",
    .example =
        "print(([-2.5, 2.5] as f32[2]).ceil().array, ceil(2.5))\n"
        "// expect: [-2, 3] 3\n",
    .type = [](RuleContext& c) { return numeric(c, "ceil", Takes::floats, 1, true); },
    .kernel = unary_kernel<Ceil, Takes::floats>,
    .scalar = on_host,
    .gradient = Gradient::none(piecewise_constant),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::ceil_op
