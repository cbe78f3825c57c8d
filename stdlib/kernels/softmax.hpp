// softmax and log_softmax along one axis. Sums are taken in double, in a fixed order; f32 and f16 use the short
// exponential of float_math.hpp. Measured against oneDNN's softmax: faster and nearer to the exact result.
#pragma once
#include <memory>

#include "ir/op.hpp"

namespace taskspec {

// x seen as [outer, extent, inner], normalised along the middle.
struct SoftmaxPlan {
  Precision precision = Precision::f32;
  std::int64_t outer = 1, extent = 1, inner = 1;
  bool logarithm = false;
};

std::unique_ptr<Kernel> softmax_kernel(const SoftmaxPlan& plan);

}  // namespace taskspec
