// sigmoid: the logistic function, 1 / (1 + e^-x).
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sigmoid_op {

namespace {

struct Sigmoid {
  template <class T>
  T operator()(T x) const {
    T small = std::exp(-std::fabs(x));  // at most 1: no overflow, and small results keep their digits
    return (x < 0 ? small : T(1)) / (1 + small);
  }
  bool regular(float x) const { return std::fabs(x) < 700; }
  float fast(float x) const { return static_cast<float>(1 / (1 + float_math::exp(-static_cast<double>(x)))); }
};

Value on_host(std::span<const Value> v) { return Sigmoid{}(v[0].real()); }

void gradient(GradientBuilder& g) { chain(g, g.emit(op_mul, {g.output(), g.emit(op_sub, {Value(1.0), g.output()})})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sigmoid",
    .operands = unary_operands,
    .doc = "The logistic function 1 / (1 + e^-x), element by element. Takes floats (E2002) and host numbers.",
    .example =
        "print(([0.0, 1.0] as f64[2]).sigmoid().array, sigmoid(0))\n"
        "// expect: [0.5, 0.7310585786300049] 0.5\n",
    .type = [](RuleContext& c) { return numeric(c, "sigmoid", Takes::floats, 1, false); },
    .kernel = unary_kernel<Sigmoid, Takes::floats>,
    .scalar = on_host,
    .gradient = {gradient, {.outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<24>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::sigmoid_op
