// sub: the difference of two tensors or numbers.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sub_op {

namespace {

struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, std::minus<>{});
  }
};

void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.upstream());
  add_reduced(g, 1, g.emit(op_neg, {g.upstream()}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sub",
    .symbol = "-",
    .operands = binary_operands,
    .doc =
        "The difference of two tensors, element by element, with broadcasting; integers wrap. A host number beside a "
        "tensor takes its precision (E2003 when it does not fit). On the host int overflow is E5001. Shapes that do "
        "not broadcast are E2001, different precisions E2002.",
    .example =
        "let x = [1, 2, 3] as i32[3]\n"
        "print((10 - x).array, 1 - 2.5)\n"
        "// expect: [9, 8, 7] -1.5\n",
    .type = [](RuleContext& c) { return arithmetic(c, "-"); },
    .kernel = binary_kernel<Sub, Takes::numbers>,
    .scalar = scalar::sub,
    .extent = [](std::span<const Dim> v) { return v[0] - v[1]; },
    .gradient = gradient,
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.add(-1); },
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::sub_op
