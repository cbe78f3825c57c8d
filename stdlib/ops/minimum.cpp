// minimum: the smaller of two tensors or numbers.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::minimum_op {

namespace {

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;  // a nan on either side wins
  }
};

// Of equals the left one is taken.
void gradient(GradientBuilder& g) {
  GradientBuilder::Var left = g.emit(op_le, {g.input(0), g.input(1)});
  add_reduced(g, 0, g.emit(op_where, {left, g.upstream(), Value(0.0)}));
  add_reduced(g, 1, g.emit(op_where, {left, Value(0.0), g.upstream()}));
}

void lower(BlockBuilder& b, const OpInstance&) {
  const std::size_t known = b.is_fixed(0) ? 0 : 1;
  const std::optional<double> bound = lowering::known_number(b, known);
  if (!bound || known == 0)
    b.refuse("it compares two tensors, and a block compares with one number",
             "a bound that is a number, as the second operand");
  b.bound(std::nullopt, bound);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "minimum",
    .operands = binary_operands,
    .doc =
        "The smaller of a and b, element by element, with broadcasting; nan if either is nan. Takes integers and "
        "floats (E2002). A host number beside a tensor takes its precision. Also of two host numbers. The reduction "
        "over an axis is `min`.",
    .example =
        "let x = [1, 5] as i32[2]\n"
        "print(x.minimum(3).array, minimum(1, 2.5))\n"
        "// expect: [1, 3] 1\n",
    .type = [](RuleContext& c) { return numeric(c, "minimum", Takes::numbers, 2, true); },
    .kernel = binary_kernel<Minimum, Takes::numbers>,
    .scalar = scalar::minimum,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = lower,
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::minimum_op
