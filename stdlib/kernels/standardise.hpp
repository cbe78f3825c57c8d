// Groups of elements brought to mean 0 and variance 1, then scaled and shifted: what layernorm and batchnorm share.
//
//   row of layernorm:       groups [outer], each one piece of `length` elements; its element i has factor i
//   channel of batchnorm:   groups [channels], each `pieces` of `length` elements; group g has factor g
#pragma once
#include <memory>

#include "ir/records/op.hpp"

namespace taskspec {

struct StandardisePlan {
  Precision precision = Precision::f32;
  std::int64_t groups = 1, pieces = 1, length = 1;
  std::int64_t group_step = 1, piece_step = 1;  // from one to the next, in elements
  bool factor_per_element = false;              // else per group
  double epsilon = 1e-5;                        // added to the variance
};

// Inputs: x, scale, shift. Mean and variance are sums of blocks in f64, the rest is computed in the precision
// (f16 as f32).
std::unique_ptr<Kernel> standardise_kernel(const StandardisePlan& plan);

}  // namespace taskspec
