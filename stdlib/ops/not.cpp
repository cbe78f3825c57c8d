// not: the opposite of a bool, every bit of an integer turned.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::not_op {

namespace {

struct Not {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

struct Opposite {
  std::uint8_t operator()(std::uint8_t x) const { return x ^ 1; }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = c.type(0);
  if (x.is(Type::Kind::boolean) || x.is(Type::Kind::integer)) return x;
  return tensor_operand(c, "!", 0, Takes::bits);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  if (call.in[0].precision == Precision::boolean) return map_kernel<std::uint8_t, std::uint8_t>(call, Opposite{});
  return unary_kernel<Not, Takes::bits>(call);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "not",
    .symbol = "!",
    .operands = unary_operands,
    .doc =
        "The opposite of a bool, element by element; of an integer every bit turned. Floats are E2002. Also on host "
        "bools and ints.",
    .example =
        "print((!([true, false] as bool[2])).array, !true, !5)\n"
        "// expect: [false, true] false -6\n",
    .type = type,
    .kernel = kernel,
    .scalar = scalar::bit_not,
    .gradient = Gradient::none(no_float_result),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::not_op
