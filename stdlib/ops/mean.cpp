// mean: the average along axes.
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::mean_op {

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

// Over parts of what is averaged: the sum, divided. f16 is summed as f32.
std::vector<CallBuilder::Var> made_of(CallBuilder& b) {
  const ArrayType x = b.call().in[0];
  auto as = [&](CallBuilder::Var var, Precision precision) {
    if (b.type(var).precision == precision) return var;
    return b.emit(op_cast, {var, Value(Type::of(Type::tensor(precision, {})))});
  };
  const Precision wide = x.precision == Precision::f16 ? Precision::f32 : x.precision;
  const CallBuilder::Var sum = b.emit(op_sum, {as(b.input(0), wide), b.call().attributes[1]});
  const auto count = static_cast<double>(x.elements() / b.call().out[0].elements());
  return {as(b.emit(op_div, {sum, Value(count)}), x.precision)};
}

std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = kept_splits(call);
  for (Split& split : summed_splits(call)) {
    if (!split.sums) continue;
    split.sums = false;
    split.made_of = made_of;
    splits.push_back(std::move(split));
  }
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
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
    .sharding = splits,
    .work = reduction_work,
    .tolerance = 1e-6,
    .fusion = Fusion::reduction};

}  // namespace taskspec::mean_op
