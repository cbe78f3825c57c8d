// layernorm_input_grad: the gradient of layernorm by what it standardises.
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec::layernorm_input_grad_op {

namespace {

constexpr Operand operands[] = {{"x"}, {"dy"}, {"scale"}, {.name = "eps", .kind = OperandKind::real, .standard = 1e-5}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "layernorm_input_grad", 0, Takes::floats);
  if (x.rank() == 0) refuse(c, "E2001", "'layernorm_input_grad' takes at least 1 axis, not " + x.text(), 0);
  require_like_x(c, "layernorm_input_grad", 1);
  const Type& scale = tensor_operand(c, "layernorm_input_grad", 2, Takes::floats);
  require_one_precision(c, "layernorm_input_grad", {x, scale});
  const std::vector<Dim> wanted{x.dims.back()};
  require_same_dims(c, "layernorm_input_grad of " + x.text() + " with " + scale.text(), wanted, scale.dims);
  return x;
}

// Rows of x and of dy.
std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = splits_beside(call, {call.in[0].extents.size() - 1});
  for (Split& split : splits) split.in[1] = split.in[0];
  return splits;
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "layernorm_input_grad",
             .operands = operands,
             .doc =
                 "The gradient of layernorm by x: from x, dy, the gradient by its result, and the scale. Floats of one "
                 "precision (E2002), shapes that differ are E2001.",
             .example =
                 "let x = [1.0, 2.0, 6.0] as f64[3]\n"
                 "let dx = layernorm_input_grad(x, [1.0, 0.0, 0.0] as f64[3], [2.0, 1.0, 1.0] as f64[3], eps: 0.0)\n"
                 "print(close(dx.sum().scalar, 0.0, abs: 1e-12), close((dx * x).sum().scalar, 0.0, abs: 1e-12))\n"
                 "// expect: true true\n",
             .type = type,
             .kernel =
                 [](const OpInstance& call) {
                   return standardise_rows_input_kernel(rows_plan(call.in[0], call.attributes[3].real()));
                 },
             .gradient = Gradient::none(no_second_derivative),
             .lower = Lowering::none("a chip does not train"),
             .sharding = splits,
             .work = standardising_work,
             .tolerance = standardising_tolerance,
             .fusion = Fusion::opaque,
             .sharing = Sharing::in_place};

}  // namespace taskspec::layernorm_input_grad_op
