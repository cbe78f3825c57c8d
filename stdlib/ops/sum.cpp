// sum: the sum along axes, or of a host list.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::sum_op {

namespace {

template <class T>
struct Sum {
  using Acc = WidenedAcc<T>;
  using Out = Widened<T>;
  static constexpr bool lanes = true;
  static Acc start() { return 0; }
  static Acc add(Acc a, T x, std::int64_t) { return a + convert<Acc>(x); }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Out finish(Acc a, std::int64_t) { return convert<Out>(a); }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  if (all_host(c)) return list_element(c, "sum", false);
  const Type& x = tensor_operand(c, "sum", 0, Takes::ordered);
  return Type::tensor(widened(x.precision), reduced_dims(c, x.dims));
}

void gradient(GradientBuilder& g) {
  if (differentiable(g, 0)) g.add(0, expand(g, g.upstream(), g.call().in[0]));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "sum",
    .operands = reduction_operands,
    .doc =
        "The sum of the elements along one axis or several. Keeps a reduced axis with extent 1; several axes as a "
        "tuple; without an axis gives rank 0. Integers narrower than 32 bits, and bool, give i32, and integers wrap; "
        "floats are added in f64. Of a field of a region they are added by a fixed tree over blocks of 64 points, "
        "which is "
        "the same for any number of threads and shards. Also the sum of a host list of numbers, which is 0 of none.",
    .example =
        "let x = [[1.0, 2.0], [3.0, 4.0]] as f32[2, 2]\n"
        "print(x.sum(0).array, x.sum().array, sum([1, 2, 3]))\n"
        "// expect: [[4, 6]] 10 6\n",
    .type = type,
    .kernel = reduction_kernel<Sum>,
    .scalar = scalar::sum,
    .gradient = gradient,
    .lower = +[](BlockBuilder& b, const OpInstance& call) { b.reduce(reduced_axes(call), false); },
    .sharding = summed_splits,
    .work = reduction_work,
    .tolerance = 1e-6,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec::sum_op
