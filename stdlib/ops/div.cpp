// div: the quotient of two tensors or numbers; of integers without its fraction.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::div_op {

namespace {

struct Div {
  template <class T>
  bool allows(T, T b) const {
    return std::is_floating_point_v<T> || b != 0;
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      if (b == -1) return wrapped(T{0}, a, std::minus<>{});  // the smallest integer wraps instead of trapping
    return static_cast<T>(a / b);
  }
};

void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.emit(op_div, {g.upstream(), g.input(1)}));
  GradientBuilder::Var falling = g.emit(op_div, {g.output(), g.input(1)});
  add_reduced(g, 1, g.emit(op_neg, {g.emit(op_mul, {g.upstream(), falling})}));
}

// By a number that is known a product, else a table if it is a function of one tensor.
void lower(BlockBuilder& b, const OpInstance& call) {
  const std::optional<double> divisor = lowering::known_number(b, 1);
  if (!divisor || !is_float(call.in[0].precision) || *divisor == 0) return b.map();
  b.affine(no_axis, {1 / *divisor}, {0});
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "div",
    .symbol = "/",
    .operands = binary_operands,
    .doc =
        "The quotient of two tensors, element by element, with broadcasting. Integers drop the fraction, towards "
        "zero; by zero is E5002. Floats are IEEE: by zero gives inf or nan. A host number beside a tensor takes its "
        "precision (E2003 when it does not fit). Shapes that do not broadcast are E2001, different precisions E2002.",
    .example =
        "let x = [7, -7, 8] as i32[3]\n"
        "print((x / 2).array, 7 / 2, 7 / 2.0)\n"
        "// expect: [3, -3, 4] 3 3.5\n",
    .type = [](RuleContext& c) { return arithmetic(c, "/"); },
    .kernel = binary_kernel<Div, Takes::numbers>,
    .scalar = scalar::div,
    .extent = [](std::span<const Dim> v) { return v[0] / v[1]; },
    .divides = true,
    .gradient = {gradient, {.inputs = 0b10, .outputs = 1}},
    .lower = lower,
    .sharding = pointwise_splits,
    .work = work_per_element<4>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::div_op
