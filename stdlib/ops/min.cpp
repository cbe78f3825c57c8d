// min: the smallest element along axes, or of a host list.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::min_op {

namespace {

template <class T>
struct Min {
  using Acc = Computed<T>;
  using Out = T;
  static constexpr bool lanes = true;
  static Acc start() { return highest<Acc>(); }
  static Acc add(Acc a, T x, std::int64_t) { return merge(a, convert<Acc>(x)); }
  static Acc merge(Acc a, Acc b) {  // two selections without a branch: such loops vectorise
    Acc further = b < a ? b : a;
    return b != b ? b : further;  // a nan stays
  }
  static Out finish(Acc a, std::int64_t) { return convert<Out>(a); }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  if (all_host(c)) return list_element(c, "min", true);
  const Type& x = tensor_operand(c, "min", 0, Takes::ordered);
  require_elements(c, "min");
  return Type::tensor(x.precision, reduced_dims(c, x.dims));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "min",
    .operands = reduction_operands,
    .doc =
        "The smallest of the elements along one axis or several; nan if one is nan. Keeps a reduced axis with extent "
        "1; several axes as a tuple; without an axis gives rank 0. Takes bool, integers and floats (E2002); no "
        "elements are E2004. Also the smallest item of a host list of numbers or strings. Of two operands `minimum` "
        "is the op.",
    .example =
        "let x = [[1, 2], [3, 4]] as i32[2, 2]\n"
        "print(x.min(0).array, x.min().array, min([2, 1, 3]))\n"
        "// expect: [[1, 2]] 1 1\n",
    .type = type,
    .kernel = reduction_kernel<Min>,
    .scalar = scalar::min,
    .gradient = {extremum_gradient, {.inputs = 1, .outputs = 1}},
    .lower = Lowering::none("windows of a chip have a largest number; the smallest of x is -(-x).max()"),
    .sharding = kept_splits,
    .work = reduction_work,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec::min_op
