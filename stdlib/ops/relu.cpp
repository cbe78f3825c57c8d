// relu: x, but 0 where it is negative.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::relu_op {

namespace {

struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < 0 ? T(0) : x;  // nan stays
  }
};

Value on_host(std::span<const Value> v) {
  if (v[0].is_integer()) return Relu{}(v[0].integer());
  return Relu{}(v[0].real());
}

// Of the result, which is positive where x is: the next op often keeps it anyway, and x need not be kept.
void gradient(GradientBuilder& g) { g.add(0, g.emit(op_relu_grad, {g.output(), g.upstream()})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "relu",
    .operands = unary_operands,
    .doc =
        "x, but 0 where it is negative, element by element; nan stays. Takes integers and floats (E2002) and host "
        "numbers. Its derivative at 0 counts as 0.",
    .example =
        "print(([-1.5, 2.0] as f32[2]).relu().array, relu(-3))\n"
        "// expect: [0, 2] 0\n",
    .type = [](RuleContext& c) { return numeric(c, "relu", Takes::numbers, 1, true); },
    .kernel = unary_kernel<Relu, Takes::numbers>,
    .scalar = on_host,
    .gradient = {gradient, {.outputs = 1}},
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.rectify(); },
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::relu_op
