#include "stdlib/ops/convolution.hpp"

#include <fmt/format.h>

#include "ir/base/text.hpp"
#include "stdlib/kernels/direct_convolution.hpp"
#include "stdlib/kernels/winograd.hpp"

namespace taskspec {

namespace {

constexpr std::size_t stride = 3, pad = 4, dilation = 5, groups = 6;  // operands

Dim group_count(RuleContext& ctx, const Type& w) {
  Dim count = *ctx.dim(groups);
  if (!count.is_constant()) return count;
  if (*count.constant() < 1) refuse(ctx, "E1003", "groups must be at least 1, not " + count.text(), groups);
  std::optional<std::int64_t> outputs = w.dims[0].constant();
  if (outputs && *outputs % *count.constant() != 0)
    refuse(ctx, "E2001",
           fmt::format("{} cannot be split into {} groups",
                       plural(static_cast<std::size_t>(*outputs), "output channel"), count.text()),
           groups);
  return count;
}

}  // namespace

Type convolution_type(RuleContext& ctx, const Type& x, const Type& w, Precision precision) {
  require_image(ctx, x, 0);
  if (w.rank() != 4) refuse(ctx, "E2001", "weights are [O, C / groups, kh, kw]; these are " + w.text(), 1);
  Dim channels = w.dims[1] * group_count(ctx, w);
  const Dim& given = x.dims[x.rank() - 3];
  ctx.require_same(given, channels,
                   fmt::format("shapes differ: an image {} has {} {}, weights {} take {}", x.text(), given.text(),
                               given == Dim(1) ? "channel" : "channels", w.text(), channels.text()));
  auto strides = pair_dims(ctx, stride, "stride", 1), pads = pair_dims(ctx, pad, "pad", 0),
       dilations = pair_dims(ctx, dilation, "dilation", 1);
  auto part = [](const std::optional<std::array<Dim, 2>>& pair, std::size_t axis) {
    return pair ? std::optional<Dim>((*pair)[axis]) : std::nullopt;
  };
  Type y = Type::tensor(precision, x.dims);
  y.dims[x.rank() - 3] = w.dims[0];
  for (std::size_t axis : {0, 1})
    y.dims[x.rank() - 2 + axis] = window_count(ctx, {.image = x.dims[x.rank() - 2 + axis],
                                                     .kernel = w.dims[2 + axis],
                                                     .pad = part(pads, axis),
                                                     .stride = part(strides, axis),
                                                     .dilation = part(dilations, axis)});
  return y;
}

void require_convolution(RuleContext& ctx, const Type& x, const Type& w, const Type& y) {
  Type made = convolution_type(ctx, x, w, y.precision);
  require_same_dims(ctx, fmt::format("{} and {} make {}, not {}", x.text(), w.text(), made.text(), y.text()), made.dims,
                    y.dims);
}

ConvolutionPlan convolution_plan(const OpInstance& call, const Extents& x, const Extents& w, const Extents& y) {
  ImageBatch from = image_batch(x), to = image_batch(y);
  return {.batch = from.images,
          .groups = call.attributes[groups].integer(),
          .channels = from.channels,
          .outputs = to.channels,
          .windows = {.image = from.extent,
                      .kernel = {w[2], w[3]},
                      .stride = pair_value(call.attributes[stride]),
                      .pad = pair_value(call.attributes[pad]),
                      .dilation = pair_value(call.attributes[dilation]),
                      .out = to.extent}};
}

ProductPlan convolution_product(const OpInstance& call, const ConvolutionPlan& c) {
  const Windows& w = c.windows;
  std::int64_t rows = c.outputs / c.groups, channels = c.channels / c.groups, depth = channels * w.taps();
  ProductPlan plan{.rows = rows,
                   .columns = w.positions(),
                   .depth = depth,
                   .left = MatrixLines{.line_step = depth},
                   .right = WindowPositions{w},
                   .left_precision = call.in[1].precision,
                   .right_precision = call.in[0].precision,
                   .out_precision = call.out[0].precision,
                   .items = {},
                   .bias = c.bias ? Bias::per_row : Bias::none,
                   .left_input = 1,
                   .right_input = 0};
  if (w.taps() == 1 && w.stride == Pair{1, 1} && w.pad == Pair{0, 0})  // every pixel is its own window
    plan.right = MatrixLines{.line_step = 1, .step = w.pixels()};
  for (std::int64_t image = 0; image < c.batch; ++image)
    for (std::int64_t group = 0; group < c.groups; ++group)
      plan.items.push_back({.left = group * rows * depth,
                            .right = (image * c.channels + group * channels) * w.pixels(),
                            .out = (image * c.outputs + group * rows) * w.positions(),
                            .bias = group * rows});
  return plan;
}

std::unique_ptr<Kernel> convolution_kernel(const OpInstance& call) {
  ConvolutionPlan plan = convolution_plan(call, call.in[0].extents, call.in[1].extents, call.out[0].extents);
  plan.bias = call.in.size() > 2;
  ProductPlan product = convolution_product(call, plan);
  if (std::unique_ptr<Kernel> dense = dense_product_kernel(product)) return dense;
  if (suits_direct_convolution(plan, product.out_precision))
    return direct_convolution_kernel(plan, product.right_precision, product.left_precision, product.out_precision);
  if (product.out_precision == Precision::f32)
    if (std::unique_ptr<Kernel> best = best_convolution_kernel(plan, ConvolutionPart::result)) return best;
  return product_kernel(product);
}

std::unique_ptr<Kernel> best_convolution_kernel(const ConvolutionPlan& plan, ConvolutionPart part) {
  if (suits_image_lanes(plan, part)) return image_lanes_kernel(plan, part);
  if (suits_winograd(plan)) return winograd_kernel(plan, part);
  if (part == ConvolutionPart::result) return dense_convolution_kernel(plan);
  return dense_convolution_gradient_kernel(plan, part == ConvolutionPart::weight_gradient);
}

std::vector<std::variant<GradientBuilder::Var, Value>> with_windows(
    const OpInstance& call, std::vector<std::variant<GradientBuilder::Var, Value>> first) {
  for (std::size_t operand : {stride, pad, dilation, groups}) first.push_back(call.attributes[operand]);
  return first;
}

}  // namespace taskspec
