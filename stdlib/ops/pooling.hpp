// What the pools and their gradients have in common: windows of extent k, moved by `stride` (k when it is left
// out), over images with `pad` pixels on all sides that never count.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/pool.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec {

// Positions of k, stride and pad among the operands.
struct PoolOperands {
  std::size_t k = 1, stride = 2, pad = 3;
};

// The shape of the pooled image (E2001, E1003).
Type pooled_type(RuleContext& ctx, const Type& x, const PoolOperands& at);

PoolPlan pool_plan(const OpInstance& call, Pooling kind, const ArrayType& x, const ArrayType& y,
                   const PoolOperands& at);

Work pool_work(const OpInstance& call, const PoolPlan& plan);

}  // namespace taskspec
