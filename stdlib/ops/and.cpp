// and: element-wise and of bools, bit by bit of integers.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::and_op {

namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "and",
    .symbol = "&",
    .operands = binary_operands,
    .doc =
        "a and b, element by element, with broadcasting: of bools, or of integers bit by bit. Floats are E2002. On "
        "the host of two bools or two ints, both of which are evaluated.",
    .example =
        "let x = [true, true] as bool[2]\n"
        "let y = [true, false] as bool[2]\n"
        "print((x & y).array, 12 & 10)\n"
        "// expect: [true, false] 8\n",
    .type = [](RuleContext& c) { return bitwise(c, "&"); },
    .kernel = binary_kernel<And, Takes::bits>,
    .scalar = scalar::bit_and,
    .gradient = Gradient::none(no_float_result),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::and_op
