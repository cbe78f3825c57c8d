#include "stdlib/ops/pooling.hpp"

#include <fmt/format.h>

namespace taskspec {

Type pooled_type(RuleContext& ctx, const Type& x, const PoolOperands& at) {
  require_image(ctx, x, 0);
  bool has_stride = !ctx.type(at.stride).is(Type::Kind::none);
  auto k = pair_dims(ctx, at.k, "k", 1), stride = has_stride ? pair_dims(ctx, at.stride, "stride", 1) : k,
       pad = pair_dims(ctx, at.pad, "pad", 0);
  auto part = [](const std::optional<std::array<Dim, 2>>& pair, std::size_t axis) {
    return pair ? std::optional<Dim>((*pair)[axis]) : std::nullopt;
  };
  Type y = x;
  for (std::size_t axis : {0, 1}) {
    std::optional<Dim> window = part(k, axis), border = part(pad, axis);
    if (window && border && (*border - *window).constant().value_or(-1) >= 0)
      refuse(ctx, "E1003",
             fmt::format("a pad of {} leaves windows of {} without a pixel", border->text(), window->text()),
             static_cast<int>(at.pad));
    Dim& extent = y.dims[x.rank() - 2 + axis];
    extent = window_count(ctx, {.image = extent, .kernel = window, .pad = border, .stride = part(stride, axis)});
  }
  return y;
}

PoolPlan pool_plan(const OpInstance& call, Pooling kind, const ArrayType& x, const ArrayType& y,
                   const PoolOperands& at) {
  ImageBatch from = image_batch(x.extents), to = image_batch(y.extents);
  const Value& stride = call.attributes[at.stride];
  return {.kind = kind,
          .precision = x.precision,
          .planes = from.images * from.channels,
          .windows = {.image = from.extent,
                      .kernel = pair_value(call.attributes[at.k]),
                      .stride = pair_value(stride.is_none() ? call.attributes[at.k] : stride),
                      .pad = pair_value(call.attributes[at.pad]),
                      .out = to.extent}};
}

Work pool_work(const OpInstance& call, const PoolPlan& plan) {
  double bytes = static_cast<double>(call.out[0].bytes());
  for (const ArrayType& in : call.in) bytes += static_cast<double>(in.bytes());
  return {static_cast<double>(plan.planes * plan.windows.positions() * plan.windows.taps()), bytes};
}

}  // namespace taskspec
