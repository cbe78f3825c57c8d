// max_pool: the largest pixel of each window.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/pooling.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::max_pool_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "k", .kind = OperandKind::pair},
                                {.name = "stride", .kind = OperandKind::pair, .standard = Default::absent()},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  return pooled_type(ctx, tensor_operand(ctx, "max_pool", 0, Takes::ordered), {});
}

PoolPlan plan(const OpInstance& call) { return pool_plan(call, Pooling::maximum, call.in[0], call.out[0], {}); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return pool_kernel(plan(call)); }

void gradient(GradientBuilder& g) {
  const std::vector<Value>& given = g.call().attributes;
  g.add(0, g.emit(op_max_pool_grad, {g.input(0), g.upstream(), given[1], given[2], given[3]}));
}

Work work(const OpInstance& call) { return pool_work(call, plan(call)); }

void lower(BlockBuilder& b, const OpInstance& call) {
  const Pair k = pair_value(call.attributes[1]), pad = pair_value(call.attributes[3]);
  const Pair stride = call.attributes[2].is_none() ? k : pair_value(call.attributes[2]);
  auto side = [&](std::size_t i) { return WindowSide{k[i], stride[i], pad[i], pad[i]}; };
  b.window_maximum(lowering::image(call.in[0].extents), side(0), side(1));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "max_pool",
    .operands = operands,
    .doc =
        "The largest pixel of each window of k (one int, or a pair for y and x) of images [B, C, H, W] or [C, H, W]. "
        "Windows lie `stride` apart, k when it is left out; padding never counts and is smaller than k (E1003). nan "
        "wins. Bool, integers and floats.",
    .example =
        "let x = [[[1, 2, 3, 4], [5, 6, 7, 8]]] as f32[1, 2, 4]\n"
        "print(x.max_pool(2).array, x.max_pool((1, 2), stride: 1).array)\n"
        "// expect: [[[6, 8]]] [[[2, 3, 4], [6, 7, 8]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 1}},
    .lower = lower,
    .sharding = row_splits<3>,
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::max_pool_op
