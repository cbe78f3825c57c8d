// sub: the difference of two tensors or numbers.
#include "ir/scalar.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"

namespace taskspec {

namespace {

struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, std::minus<>{});
  }
};

void gradient(GradientBuilder& g) {
  add_reduced(g, 0, g.upstream());
  add_reduced(g, 1, g.emit("neg", {g.upstream()}));
}

}  // namespace

extern constinit const OpDef op_sub = OpFields{
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
    .gradient = gradient,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec
