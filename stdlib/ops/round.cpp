// round: the nearest integer, of two the even one.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::round_op {

namespace {

struct Round {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};

Value on_host(std::span<const Value> v) { return v[0].is_integer() ? v[0] : Value(std::nearbyint(v[0].real())); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "round",
    .operands = unary_operands,
    .doc =
        "The nearest integer, of two the even one, element by element, still as a float. Takes floats (E2002) and "
        "host numbers; `as` converts to integers.",
    .example =
        "print(([-2.5, 2.5] as f32[2]).round().array, round(2.5))\n"
        "// expect: [-2, 2] 2\n",
    .type = [](RuleContext& c) { return numeric(c, "round", Takes::floats, 1, true); },
    .kernel = unary_kernel<Round, Takes::floats>,
    .scalar = on_host,
    .gradient = Gradient::none(piecewise_constant),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::round_op
