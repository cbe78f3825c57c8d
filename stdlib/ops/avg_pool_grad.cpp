// avg_pool_grad: the gradient of avg_pool.
#include "stdlib/ops/makers.hpp"
#include "stdlib/ops/pooling.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::avg_pool_grad_op {

namespace {

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type},
                                {"dy"},
                                {.name = "k", .kind = OperandKind::pair},
                                {.name = "stride", .kind = OperandKind::pair, .standard = Default::absent()},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0}};
constexpr PoolOperands at{.k = 2, .stride = 3, .pad = 4};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type x = written_tensor(ctx, "avg_pool_grad", 0);
  const Type& dy = tensor_operand(ctx, "avg_pool_grad", 1, Takes::floats);
  require_one_precision(ctx, "avg_pool_grad", {x, dy});
  Type pooled = pooled_type(ctx, x, at);
  require_same_dims(ctx, pooled.text() + " and " + dy.text(), pooled.dims, dy.dims);
  return x;
}

PoolPlan plan(const OpInstance& call) { return pool_plan(call, Pooling::average, call.out[0], call.in[0], at); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return pool_gradient_kernel(plan(call)); }

// Linear in dy.
void gradient(GradientBuilder& g) {
  const std::vector<Value>& given = g.call().attributes;
  g.add(0, g.emit(op_avg_pool, {g.upstream(), given[2], given[3], given[4]}));
}

Work work(const OpInstance& call) { return pool_work(call, plan(call)); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "avg_pool_grad",
    .operands = operands,
    .doc =
        "The gradient of avg_pool for images of type T: every element of dy, the gradient by its result, is shared "
        "out evenly over the pixels of its window. Floats.",
    .example =
        "let dy = [[[2, 4]]] as f32[1, 1, 2]\n"
        "print(avg_pool_grad(f32[1, 1, 4], dy, (1, 2)).array)\n"
        "// expect: [[[1, 1, 2, 2]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = Lowering::none("a chip does not train"),
    .sharding = +[](const OpInstance& call) { return written_at(0, row_splits<3>(call)); },
    .work = work,
    .tolerance = 1e-6,
    .fusion = Fusion::opaque};

}  // namespace taskspec::avg_pool_grad_op
