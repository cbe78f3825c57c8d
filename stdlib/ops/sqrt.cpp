// sqrt: the square root of x.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sqrt_op {

namespace {

struct Sqrt {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sqrt",
    .operands = unary_operands,
    .doc =
        "The square root of x, element by element, to the nearest number; nan below 0. Takes floats (E2002) and host "
        "numbers.",
    .example =
        "print(([1.0, 4.0] as f32[2]).sqrt().array, sqrt(2))\n"
        "// expect: [1, 2] 1.4142135623730951\n",
    .type = [](RuleContext& c) { return numeric(c, "sqrt", Takes::floats, 1, false); },
    .kernel = unary_kernel<Sqrt, Takes::floats>,
    .scalar = scalar::real_function<std::sqrt>,
    .gradient = {+[](GradientBuilder& g) {
                   g.add(0, g.emit(op_div, {g.emit(op_mul, {g.upstream(), Value(0.5)}), g.output()}));
                 },
                 {.outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<4>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::sqrt_op
