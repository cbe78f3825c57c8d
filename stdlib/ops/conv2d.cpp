// conv2d: convolution of images, in the sense of neural networks: windows are not turned.
#include "stdlib/ops/convolution.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::conv2d_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {"w"},
                                {.name = "b", .standard = Default::absent()},
                                {.name = "stride", .kind = OperandKind::pair, .standard = 1},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0},
                                {.name = "dilation", .kind = OperandKind::pair, .standard = 1},
                                {.name = "groups", .kind = OperandKind::integer, .standard = 1}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type &x = tensor_operand(ctx, "conv2d", 0), &w = tensor_operand(ctx, "conv2d", 1);
  Type y = convolution_type(ctx, x, w, product_precision(ctx, "conv2d", 0, 1));
  require_bias(ctx, "conv2d", 2, y.precision, w.dims[0]);
  return y;
}

void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  Value x(Type::of(call.in[0].type())), w(Type::of(call.in[1].type()));
  g.add(0, g.emit(op_conv2d_input_grad, with_windows(call, {x, g.upstream(), g.input(1)})));
  g.add(1, g.emit(op_conv2d_weight_grad, with_windows(call, {w, g.input(0), g.upstream()})));
  if (call.in.size() < 3) return;
  List axes;  // all but the channels
  auto rank = static_cast<std::int64_t>(call.in[0].extents.size());
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis != rank - 3) axes.push_back(axis);
  g.add(2, g.emit(op_drop, {g.emit(op_sum, {g.upstream(), Value(Tuple{axes})}), Value(Tuple{axes})}));
}

Work work(const OpInstance& call) {
  const Extents& w = call.in[1].extents;
  return product_work(call, w[1] * w[2] * w[3]);
}

void lower(BlockBuilder& b, const OpInstance& call) {
  enum : std::size_t { stride = 3, pad, dilation, groups };
  const Array w = lowering::known(b, 1, "weights");
  const Pair steps = pair_value(call.attributes[stride]), pads = pair_value(call.attributes[pad]);
  const Pair apart = pair_value(call.attributes[dilation]);
  auto side = [&](std::size_t k) { return WindowSide{w.extents()[2 + k], steps[k], pads[k], pads[k], apart[k]}; };
  const BlockLayout images = lowering::image(call.in[0].extents);
  b.weigh({.input = 0,
           .weights = w,
           .bias = lowering::known_bias(b, call),
           .layout = images,
           .result = images,
           .y = side(0),
           .x = side(1),
           .groups = call.attributes[groups].integer()});
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "conv2d",
    .operands = operands,
    .doc =
        "Convolves images x [B, C, H, W] (or one image [C, H, W]) with weights w [O, C / groups, kh, kw] and adds the "
        "bias b [O], which may be left out. stride, pad (zeros on all sides) and dilation are one int, or a pair for "
        "y and x; extents that do not fit are E2001. Precisions as for @; b has that of the result. Windows of 3 x 3 "
        "over "
        "channels in sixteens are summed in f32 by Winograd's form where the machine has vectors for it: off by some "
        "1e-6 of the largest element.",
    .example =
        "let x = [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]] as i32[1, 3, 3]\n"
        "let w = [[[[1, 1], [1, 1]]]] as i32[1, 1, 2, 2]\n"
        "print(conv2d(x, w).array)\n"
        "// expect: [[[12, 16], [24, 28]]]\n",
    .type = type,
    .kernel = convolution_kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = lower,
    .sharding = row_splits<4>,
    .work = work,
    .tolerance = product_tolerance,
    .fusion = Fusion::opaque};

}  // namespace taskspec::conv2d_op
