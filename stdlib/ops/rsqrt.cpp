// rsqrt: one over the square root of x.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::rsqrt_op {

namespace {

struct Rsqrt {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(x)));
  }
};

Value on_host(std::span<const Value> v) { return Rsqrt{}(v[0].real()); }

void gradient(GradientBuilder& g) {
  GradientBuilder::Var cube = g.emit(op_div, {g.output(), g.input(0)});
  chain(g, g.emit(op_mul, {cube, Value(-0.5)}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "rsqrt",
    .operands = unary_operands,
    .doc =
        "One over the square root of x, element by element; inf of 0, nan below. Takes floats (E2002) and host "
        "numbers.",
    .example =
        "print(([1.0, 4.0] as f32[2]).rsqrt().array, rsqrt(4))\n"
        "// expect: [1, 0.5] 0.5\n",
    .type = [](RuleContext& c) { return numeric(c, "rsqrt", Takes::floats, 1, false); },
    .kernel = unary_kernel<Rsqrt, Takes::floats>,
    .scalar = on_host,
    .gradient = {gradient, {.inputs = 1, .outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<8>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::rsqrt_op
