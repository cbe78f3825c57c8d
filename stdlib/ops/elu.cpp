// elu: x, but alpha (e^x - 1) where it is negative.
#include "ir/records/scalar.hpp"
#include "stdlib/kernels/float_math.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::elu_op {

namespace {

struct Elu {
  double alpha;

  template <class T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha * std::expm1(static_cast<double>(x))) : x;
  }
  bool regular(float x) const { return std::fabs(x) < 700; }
  float fast(float x) const {
    double small = x + 0.5 * x * static_cast<double>(x);  // where e^x - 1 would cancel
    double below = x > -1e-5f ? small : float_math::exp(x) - 1;
    return x < 0 ? static_cast<float>(alpha * below) : x;
  }
};

constexpr Operand operands[] = {{"x"}, {.name = "alpha", .kind = OperandKind::real, .standard = 1.0}};

Value on_host(std::span<const Value> v) { return Elu{v[1].real()}(v[0].real()); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::floats>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T>(call, Elu{call.attributes[1].real()});
  });
}

void gradient(GradientBuilder& g) {
  Value alpha = g.call().attributes[1].real();
  GradientBuilder::Var slope = g.emit(op_mul, {g.emit(op_exp, {g.input(0)}), alpha});
  GradientBuilder::Var negative = g.emit(op_lt, {g.input(0), Value(0.0)});
  g.add(0, g.emit(op_where, {negative, g.emit(op_mul, {g.upstream(), slope}), g.upstream()}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "elu",
    .operands = operands,
    .doc =
        "x, but alpha (e^x - 1) where it is negative, element by element; alpha is a host number. Takes floats "
        "(E2002) and host numbers.",
    .example =
        "print(([-1.0, 2.0] as f64[2]).elu().array, elu(2))\n"
        "// expect: [-0.6321205588285577, 2] 2\n",
    .type = [](RuleContext& c) { return numeric(c, "elu", Takes::floats, 1, false); },
    .kernel = kernel,
    .scalar = on_host,
    .gradient = {gradient, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<24>,
    .tolerance = 1e-6,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::elu_op
