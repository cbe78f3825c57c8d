// add: the sum of two tensors, numbers, strings or lists.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::add_op {

namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, std::plus<>{});
  }
};

void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.upstream());
  add_reduced(g, 1, g.upstream());
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "add",
    .symbol = "+",
    .operands = binary_operands,
    .doc =
        "The sum of two tensors, element by element, with broadcasting; integers wrap. A host number beside a tensor "
        "takes its precision (E2003 when it does not fit). On the host also joins strings and lists; int overflow is "
        "E5001. Shapes that do not broadcast are E2001, different precisions E2002.",
    .example =
        "let x = [1, 2, 3] as i32[3]\n"
        "print((x + 10).array, 1 + 2.5, \"a\" + \"b\", [1] + [2])\n"
        "// expect: [11, 12, 13] 3.5 ab [1, 2]\n",
    .type = [](RuleContext& c) { return arithmetic(c, "+"); },
    .kernel = binary_kernel<Add, Takes::numbers>,
    .scalar = scalar::add,
    .extent = [](std::span<const Dim> v) { return v[0] + v[1]; },
    .joins = true,
    .gradient = gradient,
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.add(1); },
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::add_op
