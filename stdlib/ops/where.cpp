// where: a where a condition holds, else b.
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::where_op {

namespace {

struct Where {
  template <class T>
  T operator()(std::uint8_t c, T a, T b) const {
    return c != 0 ? a : b;
  }
};

constexpr Operand operands[] = {{"c"}, {"a"}, {"b"}};
constexpr std::size_t all[] = {0, 1, 2}, branches[] = {1, 2};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  bool is_condition =
      c.type(0).is(Type::Kind::boolean) || (c.type(0).is_tensor() && c.type(0).precision == Precision::boolean);
  if (!is_condition) refuse(c, "E1004", "the condition of 'where' is a bool tensor, not " + c.type(0).text(), 0);
  Precision precision = common_precision(c, "where", branches, Takes::any);
  return Type::tensor(precision, broadcast_dims(c, "where", all));
}

// Elements are only moved, so their width is all that counts.
std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return with_width(call.out[0].precision, [&](auto bits) {
    using T = decltype(bits);
    return map_kernel<T, std::uint8_t, T, T>(call, Where{});
  });
}

void gradient(GradientBuilder& g) {
  add_reduced(g, 1, g.emit(op_where, {g.input(0), g.upstream(), Value(0.0)}));
  add_reduced(g, 2, g.emit(op_where, {g.input(0), Value(0.0), g.upstream()}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "where",
    .operands = operands,
    .doc =
        "a where the bool tensor c holds, else b, element by element, with broadcasting of all three. a and b have "
        "one precision, any (E2002); one of them may be a host number, which takes that of the other.",
    .example =
        "let x = [-1, 2] as i32[2]\n"
        "print(where(x > 0, x, 0).array)\n"
        "// expect: [0, 2]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 1}},
    .lower = Lowering::none("blocks do not choose by bools; relu, clamp, maximum and minimum choose by size"),
    .sharding = pointwise_splits,
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
    .sharing = Sharing::in_place,
};

}  // namespace taskspec::where_op
