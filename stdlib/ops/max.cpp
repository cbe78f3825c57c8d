// max: the largest element along axes, or of a host list.
#include "ir/records/scalar.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::max_op {

namespace {

template <class T>
struct Max {
  using Acc = Computed<T>;
  using Out = T;
  static constexpr bool lanes = true;
  static Acc start() { return lowest<Acc>(); }
  static Acc add(Acc a, T x, std::int64_t) { return merge(a, convert<Acc>(x)); }
  static Acc merge(Acc a, Acc b) {  // two selections without a branch: such loops vectorise
    Acc further = b > a ? b : a;
    return b != b ? b : further;  // a nan stays
  }
  static Out finish(Acc a, std::int64_t) { return convert<Out>(a); }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  if (all_host(c)) return list_element(c, "max", true);
  const Type& x = tensor_operand(c, "max", 0, Takes::ordered);
  require_elements(c, "max");
  return Type::tensor(x.precision, reduced_dims(c, x.dims));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "max",
    .operands = reduction_operands,
    .doc =
        "The largest of the elements along one axis or several; nan if one is nan. Keeps a reduced axis with extent "
        "1; several axes as a tuple; without an axis gives rank 0. Takes bool, integers and floats (E2002); no "
        "elements are E2004. Also the largest item of a host list of numbers or strings. Of two operands `maximum` "
        "is the op.",
    .example =
        "let x = [[1, 2], [3, 4]] as i32[2, 2]\n"
        "print(x.max(0).array, x.max().array, max([2, 1, 3]))\n"
        "// expect: [[3, 4]] 4 3\n",
    .type = type,
    .kernel = reduction_kernel<Max>,
    .scalar = scalar::max,
    .gradient = {extremum_gradient, {.inputs = 1, .outputs = 1}},
    .lower = +[](BlockBuilder& b, const OpInstance& call) { b.reduce_maximum(reduced_axes(call)); },
    .sharding = kept_splits,
    .work = reduction_work,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec::max_op
