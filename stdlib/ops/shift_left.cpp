// shift_left: x times 2^n, bit by bit.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::shift_left_op {

namespace {

struct Shift {
  std::int64_t by;

  template <class T>
  T operator()(T x) const {
    if (by >= 8 * static_cast<std::int64_t>(sizeof(T))) return 0;
    return wrapped(x, T{0}, [&](auto bits, auto) { return bits << by; });
  }
};

constexpr Operand operands[] = {{"x"}, {.name = "n", .kind = OperandKind::integer}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "shift_left", 0, Takes::integers);
  const Value* n = c.constant(1);
  if (n && n->integer() < 0) refuse(c, "E2003", "a shift by " + std::to_string(n->integer()) + " is negative", 1);
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::integers>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T>(call, Shift{call.attributes[1].integer()});
  });
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "shift_left",
    .operands = operands,
    .doc =
        "The bits of x moved n places up, element by element: x times 2^n, wrapped. Takes integers (E2002); a "
        "negative n is E2003, a large one gives 0.",
    .example =
        "print(([1, 100] as i8[2]).shift_left(1).array)\n"
        "// expect: [2, -56]\n",
    .type = type,
    .kernel = kernel,
    .gradient = Gradient::none(no_float_result),
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::shift_left_op
