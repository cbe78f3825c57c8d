// argmin: the place of the smallest element along an axis.
#include <functional>

#include "stdlib/kernels/first_extremum.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/reduction.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::argmin_op {

namespace {

template <class T>
struct Argmin {
  struct Acc {
    Computed<T> value;
    std::int64_t position;  // -1 before the first element
  };
  using Out = std::int64_t;
  static constexpr bool lanes = false;
  static Acc start() { return {{}, -1}; }
  static Acc add(Acc a, T x, std::int64_t position) { return merge(a, {convert<Computed<T>>(x), position}); }
  static Acc merge(Acc a, Acc b) {
    if (b.position < 0) return a;
    bool first = a.position < 0, is_nan = b.value != b.value && a.value == a.value;
    return first || b.value < a.value || is_nan ? b : a;
  }
  // A row of neighbours at once, where that is quicker than one element after the other.
  [[gnu::always_inline]] static Acc row(const T* x, std::int64_t count, std::int64_t position) {
    const std::int64_t at = first_extremum<std::less<>>(x, count);
    return {convert<Computed<T>>(x[at]), position + at};
  }
  static Out finish(Acc a, std::int64_t) { return a.position; }
};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "argmin", 0, Takes::ordered);
  if (c.type(1).is(Type::Kind::tuple)) refuse(c, "E1004", "'argmin' takes one axis, or none for all", 1);
  require_elements(c, "argmin");
  return Type::tensor(Precision::i64, reduced_dims(c, x.dims));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "argmin",
    .operands = reduction_operands,
    .doc =
        "The index of the smallest element along one axis, the first of equals; that of the first nan if there is "
        "one. The axis stays with extent 1. Without an axis the place in the whole tensor, counted row by row, as "
        "rank 0. Gives i64. Takes bool, integers and floats (E2002); no elements are E2004.",
    .example =
        "let x = [[1, 7], [5, 2]] as i32[2, 2]\n"
        "print(x.argmin(1).array, x.argmin().array)\n"
        "// expect: [[0], [1]] 0\n",
    .type = type,
    .kernel = reduction_kernel<Argmin>,
    .gradient = Gradient::none(no_float_result),
    .lower = Lowering::none("cores do not pick by data"),
    .sharding = kept_splits,
    .work = reduction_work,
    .fusion = Fusion::reduction,
};

}  // namespace taskspec::argmin_op
