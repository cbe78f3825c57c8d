// Groups of elements brought to mean 0 and variance 1, then scaled and shifted: what layernorm and batchnorm share.
//
//   row of layernorm:       groups [outer], each one piece of `length` elements; its element i has factor i
//   channel of batchnorm:   groups [channels], each `pieces` of `length` elements; group g has factor g
#pragma once
#include <algorithm>
#include <memory>

#include "ir/records/op.hpp"

namespace taskspec {

struct StandardisePlan {
  Precision precision = Precision::f32;
  std::int64_t groups = 1, pieces = 1, length = 1;
  std::int64_t group_step = 1, piece_step = 1;  // from one to the next, in elements
  bool factor_per_element = false;              // else per group
  double epsilon = 1e-5;                        // added to the variance

  std::int64_t elements() const { return pieces * length; }  // of a group
  // Groups that one part of the work should have.
  std::int64_t grain() const { return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, elements())); }
};

// Inputs: x, scale, shift. Mean and variance are sums of blocks in f64, the rest is computed in the precision
// (f16 as f32).
std::unique_ptr<Kernel> standardise_kernel(const StandardisePlan& plan);

// With statistics that are kept. Inputs: x, mean, variance, scale, shift and one i64. Unless that is 0, a group has its
// own mean and variance, and new kept ones go towards them by `momentum`, the variance without bias; else it has the
// kept ones. Results: y, mean, variance.
std::unique_ptr<Kernel> running_standardise_kernel(const StandardisePlan& plan, double momentum);

// For each group what its reverse needs. Inputs: x, dy and, where `kept`, mean, variance and the i64 from above.
// Result [sum_rows, groups]; with n = (x - mean) / deviation:
enum SumRow : std::size_t {
  row_mean,
  row_per_deviation,
  row_scale,  // sum of dy n, the gradient of the scale
  row_shift,  // sum of dy
  row_share,  // one by the elements of a group, by which mean and variance depend on each; 0 where they are kept
  sum_rows
};
std::unique_ptr<Kernel> standardise_sums_kernel(const StandardisePlan& plan, bool kept);

// dx, by those sums. Inputs: x, dy, scale, sums.
std::unique_ptr<Kernel> standardise_input_kernel(const StandardisePlan& plan);

// dx of groups that are rows, each with factors of its own elements. Inputs: x, dy, scale.
std::unique_ptr<Kernel> standardise_rows_input_kernel(const StandardisePlan& plan);

}  // namespace taskspec
