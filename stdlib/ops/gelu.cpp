// gelu: x times the share of the normal distribution below x.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::gelu_op {

namespace {

struct Gelu {
  template <class T>
  T operator()(T x) const {
    T below = std::erfc(x * T(-0.70710678118654752440)) / 2;
    return below == 0 ? T(0) : x * below;  // not nan for -inf
  }
  bool regular(float x) const { return std::fabs(x) < 26; }
  float fast(float x) const {
    double tail = float_math::normal_tail(-std::fabs(static_cast<double>(x)));
    return static_cast<float>(x * (x < 0 ? tail : 1 - tail));
  }
};

Value on_host(std::span<const Value> v) { return Gelu{}(v[0].real()); }

// share(x) + x * density(x); the share is gelu(x) / x, but for 0.
void gradient(GradientBuilder& g) {
  GradientBuilder::Var x = g.input(0);
  GradientBuilder::Var quotient = g.emit(op_div, {g.output(), x});
  GradientBuilder::Var share = g.emit(op_where, {g.emit(op_ne, {x, Value(0.0)}), quotient, Value(0.5)});
  GradientBuilder::Var square = g.emit(op_mul, {g.emit(op_mul, {x, x}), Value(-0.5)});
  GradientBuilder::Var density = g.emit(op_mul, {g.emit(op_exp, {square}), Value(0.39894228040143267794)});
  chain(g, g.emit(op_add, {share, g.emit(op_mul, {x, density})}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "gelu",
    .operands = unary_operands,
    .doc =
        "x times the share of the normal distribution below x, x (1 + erf(x / sqrt(2))) / 2, element by element: the "
        "exact form of the Gaussian error linear unit. Takes floats (E2002) and host numbers.",
    .example =
        "print(close(([0.0, 1.0] as f64[2]).gelu().array, [0.0, 0.841344746068543], abs: 1e-12), gelu(0))\n"
        "// expect: true 0\n",
    .type = [](RuleContext& c) { return numeric(c, "gelu", Takes::floats, 1, false); },
    .kernel = unary_kernel<Gelu, Takes::floats>,
    .scalar = on_host,
    .gradient = {gradient, {.inputs = 1, .outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<40>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::gelu_op
