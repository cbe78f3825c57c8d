// eq: whether a is equal to b.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::eq_op {

namespace {

struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "eq",
    .symbol = "==",
    .operands = binary_operands,
    .doc =
        "Whether a is equal to b, element by element, with broadcasting: a bool tensor. Takes every precision; both "
        "sides must have the same (E2002). nan gives false. On the host compares any two values of one type (E1004), "
        "lists and tuples by their contents.",
    .example =
        "let x = [1, 2, 3] as i32[3]\n"
        "print((x == 2).array, 1 == 2.5)\n"
        "// expect: [false, true, false] false\n",
    .type = [](RuleContext& c) { return equality(c, "=="); },
    .kernel = comparison_kernel<Eq>,
    .scalar = scalar::eq,
    .gradient = Gradient::none(no_float_result),
    .lower = Lowering::none("it makes bools, and blocks make i8 and i32"),
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
};

}  // namespace taskspec::eq_op
