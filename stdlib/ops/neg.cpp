// neg: the negative of a tensor or number.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::neg_op {

namespace {

struct Neg {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;  // 0 - x would lose the sign of zero
    else
      return wrapped(T{0}, x, std::minus<>{});
  }
};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "neg",
    .symbol = "-",
    .operands = unary_operands,
    .doc =
        "The negative of x, element by element; integers wrap. Takes integers and floats (E2002); on the host int "
        "overflow is E5001.",
    .example =
        "print((-([1, -2] as i32[2])).array, -(2.5))\n"
        "// expect: [-1, 2] -2.5\n",
    .type = [](RuleContext& c) { return numeric(c, "-", Takes::numbers, 1, true); },
    .kernel = unary_kernel<Neg, Takes::numbers>,
    .scalar = scalar::neg,
    .extent = [](std::span<const Dim> v) { return Dim(-1) * v[0]; },
    .gradient = +[](GradientBuilder& g) { g.add(0, g.emit(op_neg, {g.upstream()})); },
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::neg_op
