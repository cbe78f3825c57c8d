// le: whether a is at most b.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::le_op {

namespace {

struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "le",
    .symbol = "<=",
    .operands = binary_operands,
    .doc =
        "Whether a is at most b, element by element, with broadcasting: a bool tensor. Takes every precision; both "
        "sides must have the same (E2002). nan gives false. On the host compares numbers and strings.",
    .example =
        "let x = [1, 2, 3] as i32[3]\n"
        "print((x <= 2).array, 1 <= 2.5)\n"
        "// expect: [true, true, false] true\n",
    .type = [](RuleContext& c) { return ordering(c, "<="); },
    .kernel = comparison_kernel<Le>,
    .scalar = scalar::le,
    .gradient = Gradient::none(no_float_result),
    .lower = Lowering::none("it makes bools, and blocks make i8 and i32"),
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
};

}  // namespace taskspec::le_op
