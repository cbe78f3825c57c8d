// mod: the remainder of a division, with the sign of the left side.
#include <cmath>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::mod_op {

namespace {

struct Mod {
  template <class T>
  bool allows(T, T b) const {
    return std::is_floating_point_v<T> || b != 0;
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;  // the processor would trap on the smallest integer
      return static_cast<T>(a % b);
    }
  }
  // Quotients of at most 28 bits times 24 bits of b are exact in double. A quotient that was rounded up to an integer
  // leaves a remainder of the other sign: one b too far.
  // Infinite ones, of which 0 * b is nothing, and tiny ones are left to fmod.
  bool regular(float a, float b) const {
    const float size = std::fabs(b);
    return std::fabs(a) < size * 0x1p28f && size > 0x1p-100f && size < INFINITY;
  }
  float fast(float a, float b) const {
    double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
    double rest = x - std::trunc(x / y) * y;
    return std::copysign(static_cast<float>(rest < 0 ? rest + y : rest), a);
  }
};

// a - b * trunc(a / b), where the quotient is constant between its jumps.
void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.upstream());
  GradientBuilder::Var whole = g.emit(op_sub, {g.input(0), g.output()});
  GradientBuilder::Var quotient = g.emit(op_round, {g.emit(op_div, {whole, g.input(1)})});
  add_reduced(g, 1, g.emit(op_neg, {g.emit(op_mul, {g.upstream(), quotient})}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "mod",
    .symbol = "%",
    .operands = binary_operands,
    .doc =
        "The remainder of a / b with the sign of a, element by element, with broadcasting: a - b * trunc(a / b). "
        "Integers by zero are E5002, floats give nan. A host number beside a tensor takes its precision (E2003 when "
        "it does not fit). Shapes that do not broadcast are E2001, different precisions E2002.",
    .example =
        "let x = [7, -7, 8] as i32[3]\n"
        "print((x % 4).array, -7 % 4, 7.5 % 2.0)\n"
        "// expect: [3, -3, 0] -3 1.5\n",
    .type = [](RuleContext& c) { return arithmetic(c, "%"); },
    .kernel = binary_kernel<Mod, Takes::numbers>,
    .scalar = scalar::mod,
    .divides = true,
    .gradient = {gradient, {.inputs = 0b11, .outputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<8>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::mod_op
