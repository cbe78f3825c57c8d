// prod: the product along axes.
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::prod_op {

namespace {

template <class T>
struct Prod {
  using Acc = WidenedAcc<T>;
  using Out = Widened<T>;
  static constexpr bool lanes = true;
  static Acc start() { return 1; }
  static Acc add(Acc a, T x, std::int64_t) { return a * convert<Acc>(x); }
  static Acc merge(Acc a, Acc b) { return a * b; }
  static Out finish(Acc a, std::int64_t) { return convert<Out>(a); }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "prod", 0, Takes::ordered);
  return Type::tensor(widened(x.precision), reduced_dims(c, x.dims));
}

void gradient(GradientBuilder& g) {
  if (!differentiable(g, 0)) return;
  GradientBuilder::Var scaled = g.emit(op_mul, {g.upstream(), g.output()});
  g.add(0, g.emit(op_div, {expand(g, scaled, g.call().in[0]), g.input(0)}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "prod",
    .operands = reduction_operands,
    .doc =
        "The product of the elements along one axis or several. Keeps a reduced axis with extent 1; several axes as "
        "a tuple; without an axis gives rank 0. Integers narrower than 32 bits, and bool, give i32, and integers "
        "wrap; floats are multiplied in f64. Its derivative is nan where an element is 0.",
    .example =
        "let x = [[1, 2], [3, 4]] as i32[2, 2]\n"
        "print(x.prod(1).array, x.prod().array)\n"
        "// expect: [[2], [12]] 24\n",
    .type = type,
    .kernel = reduction_kernel<Prod>,
    .gradient = {gradient, {.inputs = 1, .outputs = 1}},
    .lower = Lowering::none("a chip multiplies two tensors, not all numbers of one"),
    .sharding = kept_splits,
    .work = reduction_work,
    .tolerance = 1e-6,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec::prod_op
