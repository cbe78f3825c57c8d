// Dense f32 kernels on oneDNN, which is seen by the dense_*.cpp files only. Each returns null where oneDNN
// has nothing to offer (other precisions, odd layouts, a build without it); product_kernel is the twin that
// computes the same everywhere.
#pragma once
#include "stdlib/kernels/product.hpp"

namespace taskspec {

// f32 products of stored matrices.
std::unique_ptr<Kernel> dense_product_kernel(const ProductPlan& plan);

// The dense kernel, else its twin.
inline std::unique_ptr<Kernel> best_product_kernel(const ProductPlan& plan) {
  std::unique_ptr<Kernel> dense = dense_product_kernel(plan);
  return dense ? std::move(dense) : product_kernel(plan);
}

// Batched convolution of x [batch, channels, y, x] with w [outputs, channels / groups, y, x]. Kernel inputs
// are x, w and, where there is one, the bias [outputs].
struct ConvolutionPlan {
  std::int64_t batch = 1, groups = 1, channels = 1, outputs = 1;
  Windows windows;
  bool bias = false;

  double operations() const {
    return 2.0 * static_cast<double>(batch * outputs * windows.positions()) *
           static_cast<double>(channels / groups * windows.taps());
  }
};

std::unique_ptr<Kernel> dense_convolution_kernel(const ConvolutionPlan& plan);

// Its gradient by the weights (inputs: x and the upstream gradient) or by the images (upstream, weights), in f32.
std::unique_ptr<Kernel> dense_convolution_gradient_kernel(const ConvolutionPlan& plan, bool of_weights);

}  // namespace taskspec
