// max_pool_grad: the gradient of max_pool.
#include "stdlib/ops/pooling.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::max_pool_grad_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {"dy"},
                                {.name = "k", .kind = OperandKind::pair},
                                {.name = "stride", .kind = OperandKind::pair, .standard = Default::absent()},
                                {.name = "pad", .kind = OperandKind::pair, .standard = 0}};
constexpr PoolOperands at{.k = 2, .stride = 3, .pad = 4};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "max_pool_grad", 0, Takes::floats);
  const Type& dy = tensor_operand(ctx, "max_pool_grad", 1, Takes::floats);
  require_one_precision(ctx, "max_pool_grad", {x, dy});
  Type pooled = pooled_type(ctx, x, at);
  require_same_dims(ctx, pooled.text() + " and " + dy.text(), pooled.dims, dy.dims);
  return x;
}

PoolPlan plan(const OpInstance& call) { return pool_plan(call, Pooling::maximum, call.in[0], call.in[1], at); }

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return pool_gradient_kernel(plan(call)); }

Work work(const OpInstance& call) { return pool_work(call, plan(call)); }

std::vector<Split> splits(const OpInstance&) { return {{.in = {0, 0}, .out = {0}}}; }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "max_pool_grad",
    .operands = operands,
    .doc =
        "The gradient of max_pool by its images x: every element of dy, the gradient by its result, goes to the "
        "first of the largest pixels of its window, and where windows meet they add up. Floats.",
    .example =
        "let x = [[[1, 5, 2, 4]]] as f32[1, 1, 4]\n"
        "print(max_pool_grad(x, [[[10, 20]]] as f32[1, 1, 2], (1, 2)).array)\n"
        "// expect: [[[0, 10, 0, 20]]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = Gradient::none("second derivatives through the choice of a maximum are not offered"),
    .lower = Lowering::none("a chip does not train"),
    .sharding = splits,
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::max_pool_grad_op
