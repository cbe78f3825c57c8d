// xor: exclusive or of bools, bit by bit of integers.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::xor_op {

namespace {

struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  return elementwise(c, "xor", Takes::bits, 2);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "xor",
    .operands = binary_operands,
    .doc =
        "Exclusive or, element by element, with broadcasting: of bools, or of integers bit by bit. Floats are E2002.",
    .example =
        "let x = [12, 10] as i32[2]\n"
        "print(x.xor(6).array)\n"
        "// expect: [10, 12]\n",
    .type = type,
    .kernel = binary_kernel<Xor, Takes::bits>,
    .gradient = Gradient::none(no_float_result),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::xor_op
