// avg_pool: the mean of each window.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/pooling.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::avg_pool_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "k", .kind = OperandKind::pair},
                                {.name = "stride", .kind = OperandKind::pair, .standard = Default::absent()},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  return pooled_type(ctx, tensor_operand(ctx, "avg_pool", 0, Takes::floats), {});
}

PoolPlan plan(const OpInstance& call) { return pool_plan(call, Pooling::average, call.in[0], call.out[0], {}); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return pool_kernel(plan(call)); }

void gradient(GradientBuilder& g) {
  const std::vector<Value>& given = g.call().attributes;
  Value x(Type::of(g.call().in[0].type()));
  g.add(0, g.emit(op_avg_pool_grad, {x, g.upstream(), given[1], given[2], given[3]}));
}

Work work(const OpInstance& call) { return pool_work(call, plan(call)); }

void lower(BlockBuilder& b, const OpInstance& call) {
  const Pair k = pair_value(call.attributes[1]), pad = pair_value(call.attributes[3]);
  const Pair stride = call.attributes[2].is_none() ? k : pair_value(call.attributes[2]);
  auto side = [&](std::size_t i) { return WindowSide{k[i], stride[i], pad[i], pad[i]}; };
  b.window_sum(lowering::image(call.in[0].extents), side(0), side(1), true);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "avg_pool",
    .operands = operands,
    .doc =
        "The mean of each window of k (one int, or a pair for y and x) of images [B, C, H, W] or [C, H, W]. Windows "
        "lie `stride` apart, k when it is left out; padding never counts, so that a window at the border is the mean "
        "of fewer pixels, and is smaller than k (E1003). Floats.",
    .example =
        "let x = [[[1, 2, 3, 4], [5, 6, 7, 8]]] as f32[1, 2, 4]\n"
        "print(x.avg_pool(2).array, x.avg_pool((1, 2), pad: (0, 1)).array)\n"
        "// expect: [[[3.5, 5.5]]] [[[1, 2.5, 4], [5, 6.5, 8]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lower,
    .sharding = row_splits<3>,
    .work = work,
    .tolerance = 1e-6,
    .fusion = Fusion::opaque};

}  // namespace taskspec::avg_pool_op
