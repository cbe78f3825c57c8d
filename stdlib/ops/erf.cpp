// erf: the error function, twice the share of the normal distribution between 0 and sqrt(2) x.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::erf_op {

namespace {

struct Erf {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::erf(static_cast<double>(x)));
  }
};

// 2 / sqrt(pi) * exp(-x * x)
void gradient(GradientBuilder& g) {
  GradientBuilder::Var square = g.emit(op_mul, {g.input(0), g.input(0)});
  chain(g, g.emit(op_mul, {g.emit(op_exp, {g.emit(op_neg, {square})}), Value(1.12837916709551257390)}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "erf",
    .operands = unary_operands,
    .doc =
        "The error function of x, element by element: the share of the normal distribution between -sqrt(2) x and "
        "sqrt(2) x. Takes floats (E2002) and host numbers.",
    .example =
        "print(close(([0.0, 1.0] as f64[2]).erf().array, [0.0, 0.842700792949715], abs: 1e-12), erf(0))\n"
        "// expect: true 0\n",
    .type = [](RuleContext& c) { return numeric(c, "erf", Takes::floats, 1, false); },
    .kernel = unary_kernel<Erf, Takes::floats>,
    .scalar = [](std::span<const Value> v) -> Value { return Erf{}(v[0].real()); },
    .gradient = {gradient, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<40>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::erf_op
