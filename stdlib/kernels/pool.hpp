// Pooling of image planes: every window becomes its maximum or its mean, padding never counts. And the
// reverse of both, which hand each window's gradient back to its pixels.
//
//   pool_kernel({.kind = Pooling::maximum, .precision = Precision::f32, .planes = 64, .windows = w})
#pragma once
#include <memory>

#include "ir/records/op.hpp"
#include "stdlib/kernels/windows.hpp"

namespace taskspec {

enum class Pooling : std::uint8_t { maximum, average };

struct PoolPlan {
  Pooling kind = Pooling::maximum;
  Precision precision = Precision::f32;
  std::int64_t planes = 1;  // images times channels
  Windows windows;          // pad is smaller than the kernel, so that every window has a pixel
};

// Input: x. The maximum propagates nan; the average is for floats.
std::unique_ptr<Kernel> pool_kernel(const PoolPlan& plan);

// Floats only. Inputs of the maximum: x and the upstream gradient, which goes to the first of the largest
// pixels of each window; of the average: the upstream gradient alone.
std::unique_ptr<Kernel> pool_gradient_kernel(const PoolPlan& plan);

}  // namespace taskspec
