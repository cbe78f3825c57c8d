// conv2d_input_grad: the gradient of conv2d by its images, which is the transposed convolution.
#include "stdlib/ops/convolution.hpp"
#include "stdlib/ops/makers.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::conv2d_input_grad_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                {"dy"},
                                {"w"},
                                {.name = "stride", .kind = OperandKind::pair, .standard = 1},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0},
                                {.name = "dilation", .kind = OperandKind::pair, .standard = 1},
                                {.name = "groups", .kind = OperandKind::integer, .standard = 1}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type x = written_tensor(ctx, "conv2d_input_grad", 0);
  const Type &dy = tensor_operand(ctx, "conv2d_input_grad", 1, Takes::floats),
             &w = tensor_operand(ctx, "conv2d_input_grad", 2, Takes::floats);
  require_one_precision(ctx, "conv2d_input_grad", {x, dy, w});
  require_convolution(ctx, x, w, dy);
  return x;
}

// Each group of each image as a product: turned weights [C / groups, O / groups * taps] by the outputs whose
// windows reach a pixel.
std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  ConvolutionPlan c = convolution_plan(call, call.out[0].extents, call.in[1].extents, call.in[0].extents);
  if (call.out[0].precision == Precision::f32)
    if (std::unique_ptr<Kernel> best = best_convolution_kernel(c, ConvolutionPart::image_gradient)) return best;
  const Windows& w = c.windows;
  std::int64_t channels = c.channels / c.groups, outputs = c.outputs / c.groups;
  ProductPlan plan{.rows = channels,
                   .columns = w.pixels(),
                   .depth = outputs * w.taps(),
                   .left = MatrixLines{.line_step = w.taps(), .inner = w.taps(), .outer_step = channels * w.taps()},
                   .right = WindowSources{w},
                   .left_precision = call.in[1].precision,
                   .right_precision = call.in[0].precision,
                   .out_precision = call.out[0].precision,
                   .items = {},
                   .left_input = 1,
                   .right_input = 0};
  for (std::int64_t image = 0; image < c.batch; ++image)
    for (std::int64_t group = 0; group < c.groups; ++group)
      plan.items.push_back({.left = group * outputs * channels * w.taps(),
                            .right = (image * c.outputs + group * outputs) * w.positions(),
                            .out = (image * c.channels + group * channels) * w.pixels()});
  return product_kernel(std::move(plan));
}

// Linear in dy and in w.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  g.add(0, g.emit(op_conv2d, with_windows(call, {g.upstream(), g.input(1), Value()})));
  Value w(Type::of(call.in[1].type()));
  g.add(1, g.emit(op_conv2d_weight_grad, with_windows(call, {w, g.upstream(), g.input(0)})));
}

Work work(const OpInstance& call) {
  const Extents& w = call.in[1].extents;
  double per_element = 2 * static_cast<double>(w[1] * w[2] * w[3]);
  return {per_element * static_cast<double>(call.in[0].elements()), product_work(call, 1).bytes};
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "conv2d_input_grad",
    .operands = operands,
    .doc =
        "The gradient of conv2d by its images: from dy, the gradient by its result, and the weights, for images of "
        "type T. Also known as transposed convolution. One float precision (E2002); shapes as conv2d makes them "
        "(E2001).",
    .example =
        "let dy = [[[1, 10]]] as f32[1, 1, 2]\n"
        "let w = [[[[1, 2]]]] as f32[1, 1, 1, 2]\n"
        "print(conv2d_input_grad(f32[1, 1, 3], dy, w).array)\n"
        "// expect: [[[1, 12, 20]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = Lowering::none("a chip does not train"),
    .sharding = +[](const OpInstance& call) { return written_at(0, row_splits<4>(call)); },
    .work = work,
    .tolerance = product_tolerance,
    .fusion = Fusion::opaque};

}  // namespace taskspec::conv2d_input_grad_op
