// conv2d_weight_grad: the gradient of conv2d by its weights.
#include "stdlib/ops/convolution.hpp"
#include "stdlib/ops/makers.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::conv2d_weight_grad_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                {"x"},
                                {"dy"},
                                {.name = "stride", .kind = OperandKind::pair, .standard = 1},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0},
                                {.name = "dilation", .kind = OperandKind::pair, .standard = 1},
                                {.name = "groups", .kind = OperandKind::integer, .standard = 1}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type w = written_tensor(ctx, "conv2d_weight_grad", 0);
  const Type &x = tensor_operand(ctx, "conv2d_weight_grad", 1, Takes::floats),
             &dy = tensor_operand(ctx, "conv2d_weight_grad", 2, Takes::floats);
  require_one_precision(ctx, "conv2d_weight_grad", {w, x, dy});
  require_convolution(ctx, x, w, dy);
  return w;
}

// Each group as one product over all images: outputs [O / groups, images * positions] by windows, turned.
std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  ConvolutionPlan c = convolution_plan(call, call.in[0].extents, call.out[0].extents, call.in[1].extents);
  if (call.out[0].precision == Precision::f32)
    if (std::unique_ptr<Kernel> best = best_convolution_kernel(c, ConvolutionPart::weight_gradient)) return best;
  const Windows& w = c.windows;
  std::int64_t channels = c.channels / c.groups, outputs = c.outputs / c.groups;
  ProductPlan plan{
      .rows = outputs,
      .columns = channels * w.taps(),
      .depth = c.batch * w.positions(),
      .left = MatrixLines{.line_step = w.positions(), .inner = w.positions(), .outer_step = c.outputs * w.positions()},
      .right = WindowTaps{w, c.channels * w.pixels()},
      .left_precision = call.in[1].precision,
      .right_precision = call.in[0].precision,
      .out_precision = call.out[0].precision,
      .items = {},
      .left_input = 1,
      .right_input = 0};
  for (std::int64_t group = 0; group < c.groups; ++group)
    plan.items.push_back({.left = group * outputs * w.positions(),
                          .right = group * channels * w.pixels(),
                          .out = group * outputs * channels * w.taps()});
  return product_kernel(std::move(plan));
}

// Linear in x and in dy.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  Value x(Type::of(call.in[0].type()));
  g.add(0, g.emit(op_conv2d_input_grad, with_windows(call, {x, g.input(1), g.upstream()})));
  g.add(1, g.emit(op_conv2d, with_windows(call, {g.input(0), g.upstream(), Value()})));
}

Work work(const OpInstance& call) {
  const Extents& w = call.out[0].extents;
  double per_element = 2 * static_cast<double>(w[1] * w[2] * w[3]);
  return {per_element * static_cast<double>(call.in[1].elements()), product_work(call, 1).bytes};
}

// Images: parts of them give parts of the sum over all.
std::vector<Split> splits(const OpInstance& call) {
  if (call.in[0].extents.size() < 4) return {};
  return {{.in = {0, 0}, .out = {Split::whole}, .sums = true}};
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "conv2d_weight_grad",
    .operands = operands,
    .doc =
        "The gradient of conv2d by its weights: from the images x and dy, the gradient by its result, for weights of "
        "type T. One float precision (E2002); shapes as conv2d makes them (E2001).",
    .example =
        "let x = [[[1, 2, 3]]] as f32[1, 1, 3]\n"
        "let dy = [[[1, 10]]] as f32[1, 1, 2]\n"
        "print(conv2d_weight_grad(f32[1, 1, 1, 2], x, dy).array)\n"
        "// expect: [[[[21, 32]]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = Lowering::none("a chip does not train"),
    .sharding = splits,
    .work = work,
    .tolerance = product_tolerance,
    .fusion = Fusion::opaque};

}  // namespace taskspec::conv2d_weight_grad_op
