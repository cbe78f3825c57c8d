// pow: x to the power of y.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::pow_op {

namespace {

constexpr Operand operands[] = {{"x"}, {"y"}};

struct Pow {
  template <class T>
  bool allows(T, T y) const {
    if constexpr (std::is_unsigned_v<T>)
      return true;
    else
      return std::is_floating_point_v<T> || y >= 0;
  }
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(x, y);
    } else {
      T result = 1;
      for (; y > 0; y = static_cast<T>(y / 2), x = wrapped(x, x, std::multiplies<>{}))
        if (y % 2 == 1) result = wrapped(result, x, std::multiplies<>{});
      return result;
    }
  }
  bool regular(float x, float y) const { return x != 0 && std::fabs(x) < INFINITY && std::fabs(y) < INFINITY; }
  float fast(float x, float y) const {
    double exponent = y * float_math::log(std::fabs(static_cast<double>(x)));
    auto size = static_cast<float>(float_math::exp(std::clamp(exponent, -690.0, 690.0)));
    float half = y * 0.5f;  // a negative x has whole powers only, and the odd ones are negative
    float negative = y != std::rint(y) ? NAN : half != std::rint(half) ? -size : size;
    return x < 0 ? negative : size;
  }
};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::numbers>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T, T>(call, Pow{}, {"E5003", "an integer has no negative power"});
  });
}

void gradient(GradientBuilder& g) {
  GradientBuilder::Var x = g.input(0), y = g.input(1);
  GradientBuilder::Var less = g.emit(op_pow, {x, g.emit(op_sub, {y, Value(1.0)})});
  add_reduced(g, 0, g.emit(op_mul, {g.upstream(), g.emit(op_mul, {y, less})}));
  // The logarithm of a base that is not positive does not exist; powers of 0 do not change with y > 0.
  GradientBuilder::Var positive = g.emit(op_gt, {x, Value(0.0)});
  GradientBuilder::Var log = g.emit(op_where, {positive, g.emit(op_log, {x}), Value(0.0)});
  add_reduced(g, 1, g.emit(op_mul, {g.upstream(), g.emit(op_mul, {g.output(), log})}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "pow",
    .operands = operands,
    .doc =
        "x to the power of y, element by element, with broadcasting. Floats are IEEE (a negative x to a broken power "
        "is nan); integers wrap, and a negative power is E5003. Both sides have one precision (E2002); a host number "
        "beside a tensor takes it. Also of host numbers, where two ints give an int (E5001 when it overflows).",
    .example =
        "print(([2.0, 3.0] as f32[2]).pow(2.0).array, pow(2, 10), pow(2, 0.5))\n"
        "// expect: [4, 9] 1024 1.4142135623730951\n",
    .type = [](RuleContext& c) { return numeric(c, "pow", Takes::numbers, 2, true); },
    .kernel = kernel,
    .scalar = scalar::pow,
    .gradient = {gradient, {.inputs = 0b11, .outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<40>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::pow_op
