// relu_grad: the gradient of relu, in one pass.
#include "ir/records/rules.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::relu_grad_op {

namespace {

struct Gate {
  template <class T>
  T operator()(T y, T dy) const {
    return y > 0 ? dy : T(0);
  }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  return elementwise(c, "relu_grad", Takes::floats, 2);
}

constexpr Operand gate_operands[] = {{"y"}, {"dy"}};

// Linear in dy; constant in y, wherever it has a derivative.
void gradient(GradientBuilder& g) {
  g.add(0, g.emit(op_relu_grad, {g.input(0), Value(0.0)}));
  add_reduced(g, 1, g.emit(op_relu_grad, {g.input(0), g.upstream()}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "relu_grad",
    .operands = gate_operands,
    .doc =
        "The gradient of relu: dy, the gradient by its result y, where y is positive, else 0; element by element, with "
        "broadcasting. One float precision (E2002).",
    .example =
        "let y = [0.0, 3.0] as f32[2]\n"
        "print(y.relu_grad([5.0, 7.0] as f32[2]).array)\n"
        "// expect: [0, 7]\n",
    .type = type,
    .kernel = binary_kernel<Gate, Takes::floats>,
    .gradient = {gradient, {.inputs = 1}},
    .lower = Lowering::none("a chip does not train"),
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::relu_grad_op
