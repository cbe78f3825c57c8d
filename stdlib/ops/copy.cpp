// copy: the same tensor, in memory of its own.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::copy_op {

namespace {

struct Same {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_width(call.in[0].precision, [&](auto bits) {
    using T = decltype(bits);
    return map_kernel<T, T>(call, Same{});
  });
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "copy",
    .operands = unary_operands,
    .doc = "The same elements in memory of their own. Every precision and shape.",
    .example =
        "print(([1, 2] as u4[2]).copy().array)\n"
        "// expect: [1, 2]\n",
    .type = [](RuleContext& c) { return already_reported(c) ? Type(Type::Kind::error) : tensor_operand(c, "copy", 0); },
    .kernel = kernel,
    .gradient = +[](GradientBuilder& g) { g.add(0, g.upstream()); },
    .lower = lowering::passed,
    .sharding = pointwise_splits,
    .work = work_per_element<0>,
    .fusion = Fusion::pointwise,
};

}  // namespace taskspec::copy_op
