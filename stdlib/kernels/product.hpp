// Matrix products in every precision: matmul, linear, convolution and both of its gradients. Sides may be
// described instead of stored (lines.hpp). Integers are exact modulo their width, floats are summed in the
// order of the inner index within blocks of 256, whatever the number of threads.
//
//   ProductPlan plan{.rows = m, .columns = n, .depth = k, .left = MatrixLines{...}, .right = MatrixLines{...}, ...};
//   std::unique_ptr<Kernel> kernel = product_kernel(std::move(plan));    // inputs: left, right, bias
#pragma once
#include <memory>
#include <vector>

#include "ir/records/op.hpp"
#include "stdlib/kernels/lines.hpp"

namespace taskspec {

// One product of a batch: where its sides, its result and its bias begin, in elements.
struct ProductItem {
  std::int64_t left = 0, right = 0, out = 0, bias = 0;
};

enum class Bias : std::uint8_t { none, per_row, per_column };

struct ProductPlan {
  std::int64_t rows = 0, columns = 0, depth = 0;  // of each product; the result is row-major
  Lines left, right;
  Precision left_precision, right_precision, out_precision;
  std::vector<ProductItem> items{{}};
  Bias bias = Bias::none;
  std::size_t left_input = 0, right_input = 1, bias_input = 2;  // positions in KernelArgs::in
};

std::unique_ptr<Kernel> product_kernel(ProductPlan plan);

// How many parts to split `units` of work into, when all of them take `operations`: from sizes alone, so
// that the parts, and with them the results, do not depend on the number of threads.
std::int64_t lane_count(std::int64_t units, double operations);

}  // namespace taskspec
