// floor: the largest integer that is not above x.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::floor_op {

namespace {

struct Floor {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

Value on_host(std::span<const Value> v) { return v[0].is_integer() ? v[0] : Value(std::floor(v[0].real())); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "floor",
    .operands = unary_operands,
    .doc =
        "The largest integer that is not above x, element by element, still as a float. Takes floats (E2002) and "
        "host numbers; `as` converts to integers.",
    .example =
        "print(([-2.5, 2.5] as f32[2]).floor().array, floor(2.5))\n"
        "// expect: [-3, 2] 2\n",
    .type = [](RuleContext& c) { return numeric(c, "floor", Takes::floats, 1, true); },
    .kernel = unary_kernel<Floor, Takes::floats>,
    .scalar = on_host,
    .gradient = Gradient::none(piecewise_constant),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::floor_op
