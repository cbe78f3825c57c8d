// shift_right: x divided by 2^n, rounded down.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::shift_right_op {

namespace {

struct Shift {
  std::int64_t by;

  template <class T>
  T operator()(T x) const {
    constexpr std::int64_t most = 8 * sizeof(T) - 1;
    if (by > most && std::is_unsigned_v<T>) return 0;
    return static_cast<T>(x >> std::min(by, most));
  }
};

constexpr Operand operands[] = {{"x"}, {.name = "n", .kind = OperandKind::integer}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "shift_right", 0, Takes::integers);
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
    .name = "shift_right",
    .operands = operands,
    .doc =
        "The bits of x moved n places down, element by element, the sign kept: x divided by 2^n, rounded down. Takes "
        "integers (E2002); a negative n is E2003, a large one gives 0, or -1 of a negative x.",
    .example =
        "print(([100, -5] as i32[2]).shift_right(1).array)\n"
        "// expect: [50, -3]\n",
    .type = type,
    .kernel = kernel,
    .gradient = Gradient::none(no_float_result),
    .lower = +[](BlockBuilder& b, const OpInstance& call) { b.shift_right(call.attributes[1].integer()); },
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::shift_right_op
