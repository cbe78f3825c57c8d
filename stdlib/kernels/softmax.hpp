// softmax and log_softmax along one axis. Sums are taken in a fixed order and end in double;
// f32 and f16 use an exponential in float of our own, which runs at about half the
// speed of oneDNN's softmax but gives the same bits on every machine.
#pragma once
#include <memory>

#include "ir/records/op.hpp"

namespace taskspec {

// x seen as [outer, extent, inner], normalised along the middle.
struct SoftmaxPlan {
  Precision precision = Precision::f32;
  std::int64_t outer = 1, extent = 1, inner = 1;
  bool logarithm = false;
};

std::unique_ptr<Kernel> softmax_kernel(const SoftmaxPlan& plan);

}  // namespace taskspec
