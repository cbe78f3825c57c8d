// batchnorm_input_grad: the gradient of batchnorm by what it standardises.
#include <fmt/format.h>

#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec::batchnorm_input_grad_op {

namespace {

constexpr Operand operands[] = {{"x"}, {"dy"}, {"scale"}, {"sums"}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "batchnorm_input_grad", 0, Takes::floats);
  if (x.rank() < 2) refuse(c, "E2001", "'batchnorm_input_grad' takes at least 2 axes, not " + x.text(), 0);
  require_like_x(c, "batchnorm_input_grad", 1);
  require_per_channel(c, "batchnorm_input_grad", 2);
  const Type& sums = tensor_operand(c, "batchnorm_input_grad", 3, Takes::floats);
  const Type wanted = Type::tensor(sums_precision(x.precision), {Dim(static_cast<std::int64_t>(sum_rows)), x.dims[1]});
  require_one_precision(c, "batchnorm_input_grad", {wanted, sums});
  require_same_dims(c, fmt::format("sums of {} and {}", x.text(), sums.text()), wanted.dims, sums.dims);
  return x;
}

// What the sums say holds for all of the batch: images, and channels.
std::vector<Split> splits(const OpInstance&) {
  return {{.in = {0, 0, Split::whole, Split::whole}, .out = {0}}, {.in = {1, 1, 0, 1}, .out = {1}}};
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "batchnorm_input_grad",
             .operands = operands,
             .doc =
                 "The gradient of batchnorm by x: from x, dy, the gradient by its result, the scale and what "
                 "`batchnorm_sums` says of x and dy. Floats of one precision (E2002), shapes that differ are E2001.",
             .example =
                 "let x = [[1.0], [2.0], [6.0]] as f64[3, 1]\n"
                 "let dy = [[1.0], [0.0], [0.0]] as f64[3, 1]\n"
                 "let dx = batchnorm_input_grad(x, dy, [2.0] as f64[1], batchnorm_sums(x, dy, eps: 0.0))\n"
                 "print(close(dx.sum().scalar, 0.0, abs: 1e-12), close((dx * x).sum().scalar, 0.0, abs: 1e-12))\n"
                 "// expect: true true\n",
             .type = type,
             .kernel = [](const OpInstance& call) { return standardise_input_kernel(channels_plan(call.in[0], 0)); },
             .gradient = Gradient::none(no_second_derivative),
             .lower = Lowering::none("a chip does not train"),
             .sharding = splits,
             .work = standardising_work,
             .tolerance = standardising_tolerance,
             .fusion = Fusion::opaque,
             .sharing = Sharing::in_place};

}  // namespace taskspec::batchnorm_input_grad_op
