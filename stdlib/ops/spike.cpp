// spike: 1 where a potential reaches its threshold, with a slope for training that a step does not have.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::spike_op {

namespace {

constexpr Operand operands[] = {{"u"},
                                {.name = "threshold", .kind = OperandKind::real, .standard = 0.0},
                                {.name = "slope", .kind = OperandKind::real, .standard = 25.0}};
constexpr std::size_t threshold = 1, slope = 2;

struct Spike {
  double threshold;

  template <class T>
  T operator()(T u) const {
    return u >= static_cast<T>(threshold) ? T(1) : T(0);
  }
};

Value on_host(std::span<const Value> v) { return Spike{v[threshold].real()}(v[0].real()); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::floats>(call.in[0].precision, [&](auto u) {
    using T = decltype(u);
    return map_kernel<T, T>(call, Spike{call.attributes[threshold].real()});
  });
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  if (const Value* known = c.constant(slope); known && !(known->real() >= 0))
    refuse(c, "E1003", "the slope of a spike is at least 0, not " + print(*known), static_cast<int>(slope));
  return numeric(c, "spike", Takes::floats, 1, false);
}

// As if u / (1 + slope |u|) had been computed, u counted from the threshold: the fast sigmoid.
void gradient(GradientBuilder& g) {
  using Var = GradientBuilder::Var;
  const std::vector<Value>& given = g.call().attributes;
  const Var distance = g.emit(op_abs, {g.emit(op_sub, {g.input(0), Value(given[threshold].real())})});
  const Var root = g.emit(op_add, {g.emit(op_mul, {distance, Value(given[slope].real())}), Value(1.0)});
  g.add(0, g.emit(op_div, {g.upstream(), g.emit(op_mul, {root, root})}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "spike",
    .operands = operands,
    .doc =
        "1 where u is at least a threshold, else 0, element by element; a nan is 0. Takes floats (E2002) and host "
        "numbers. A step has no slope to train by, so its gradient is that of a fast sigmoid: upstream / (1 + slope * "
        "abs(u - threshold))^2, with a slope of at least 0 (E1003). `lif` is the integer neuron of a chip.",
    .example =
        "print(([-0.5, 0.0, 2.0] as f32[3]).spike().array, ([0.5, 1.5] as f64[2]).spike(1.0).array)\n"
        "// expect: [0, 1, 1] [0, 1]\n",
    .type = type,
    .kernel = kernel,
    .scalar = on_host,
    .gradient = {gradient, {.inputs = 1}},
    .lower = lowering::mapped,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::spike_op
