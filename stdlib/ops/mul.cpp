// mul: the product of two tensors or numbers, element by element.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::mul_op {

namespace {

struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, std::multiplies<>{});
  }
};

void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.emit(op_mul, {g.upstream(), g.input(1)}));
  add_reduced(g, 1, g.emit(op_mul, {g.upstream(), g.input(0)}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "mul",
    .symbol = "*",
    .operands = binary_operands,
    .doc =
        "The product of two tensors, element by element, with broadcasting; integers wrap. A host number beside a "
        "tensor takes its precision (E2003 when it does not fit). On the host int overflow is E5001. Shapes that do "
        "not broadcast are E2001, different precisions E2002. The matrix product is `@`.",
    .example =
        "let x = [1, 2, 3] as i8[3]\n"
        "print((x * 50).array, 3 * 0.5)\n"
        "// expect: [50, 100, -106] 1.5\n",
    .type = [](RuleContext& c) { return arithmetic(c, "*"); },
    .kernel = binary_kernel<Mul, Takes::numbers>,
    .scalar = scalar::mul,
    .extent = [](std::span<const Dim> v) { return v[0] * v[1]; },
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.multiply(); },
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::mul_op
