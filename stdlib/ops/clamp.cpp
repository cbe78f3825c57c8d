// clamp: x kept within two bounds.
#include <array>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::clamp_op {

namespace {

struct Clamp {
  template <class T>
  T operator()(T x, T lo, T hi) const {
    T above = x < lo ? lo : x;  // comparisons with nan fail: a nan x stays
    return above > hi ? hi : above;
  }
};

constexpr Operand operands[] = {{"x"}, {"lo"}, {"hi"}};

Value on_host(std::span<const Value> v) { return scalar::minimum(std::array{scalar::maximum(v.first(2)), v[2]}); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_taken<Takes::numbers>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T, T, T>(call, Clamp{});
  });
}

void gradient(GradientBuilder& g) {
  auto where = [&](GradientBuilder::Var condition) { return g.emit(op_where, {condition, g.upstream(), Value(0.0)}); };
  GradientBuilder::Var below = g.emit(op_lt, {g.input(0), g.input(1)}), above = g.emit(op_gt, {g.input(0), g.input(2)});
  add_reduced(g, 0, where(g.emit(op_not, {g.emit(op_or, {below, above})})));
  add_reduced(g, 1, where(below));
  add_reduced(g, 2, where(above));
}

void lower(BlockBuilder& b, const OpInstance&) {
  const std::optional<double> least = lowering::known_number(b, 1), most = lowering::known_number(b, 2);
  if (!least || !most)
    b.refuse("its bounds are tensors, and a block compares with one number", "bounds that are numbers");
  b.bound(least, most);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "clamp",
    .operands = operands,
    .doc =
        "x, but lo where it is below lo and hi where it is above hi, element by element, with broadcasting; nan "
        "stays. Takes integers and floats (E2002); host numbers beside a tensor take its precision. Also of host "
        "numbers.",
    .example =
        "print(([-300, 5, 300] as i32[3]).clamp(-128, 127).array, clamp(7, 0, 5))\n"
        "// expect: [-128, 5, 127] 5\n",
    .type = [](RuleContext& c) { return numeric(c, "clamp", Takes::numbers, 3, true); },
    .kernel = kernel,
    .scalar = on_host,
    .gradient = {gradient, {.inputs = 0b111}},
    .lower = lower,
    .sharding = pointwise_splits,
    .work = work_per_element<2>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::clamp_op
