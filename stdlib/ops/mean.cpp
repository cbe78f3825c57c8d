// mean: the average along axes.
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec {

extern const OpDef op_mul;  // its reverse is made of these

namespace {

template <class T>
struct Mean {
  using Acc = double;
  using Out = T;
  static constexpr bool lanes = true;
  static Acc start() { return 0; }
  static Acc add(Acc a, T x, std::int64_t) { return a + convert<Acc>(x); }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Out finish(Acc a, std::int64_t count) { return convert<Out>(a / static_cast<double>(count)); }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "mean", 0, Takes::floats);
  return Type::tensor(x.precision, reduced_dims(c, x.dims));
}

void gradient(GradientBuilder& g) {
  double count = 1;
  for (std::size_t axis : axes_of(g.call().attributes[1], g.call().in[0].extents.size()))
    count *= static_cast<double>(g.call().in[0].extents[axis]);
  g.add(0, expand(g, g.emit(op_mul, {g.upstream(), Value(1 / count)}), g.call().in[0]));
}

}  // namespace

extern constinit const OpDef op_mean = OpFields{
    .name = "mean",
    .operands = reduction_operands,
    .doc =
        "The average of the elements along one axis or several. Keeps a reduced axis with extent 1; several axes as "
        "a tuple; without an axis gives rank 0. Takes floats (E2002); the average of no elements is nan.",
    .example =
        "let x = [[1.0, 2.0], [3.0, 4.0]] as f32[2, 2]\n"
        "print(x.mean(0).array, x.mean().array)\n"
        "// expect: [[2, 3]] 2.5\n",
    .type = type,
    .kernel = reduction_kernel<Mean, Takes::floats>,
    .gradient = gradient,
    .lower = +[](BlockBuilder& b, const OpInstance& call) { b.reduce(reduced_axes(call), true); },
    .sharding = kept_splits,
    .work = reduction_work,
    .tolerance = 1e-6,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec
