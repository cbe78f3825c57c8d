// Stands in for the other dense_*.cpp files in a build without oneDNN: its OpenMP confuses ThreadSanitizer.
#include "stdlib/kernels/dense.hpp"
#include "stdlib/kernels/dense_bytes.hpp"

namespace taskspec {

std::unique_ptr<Kernel> dense_product_kernel(const ProductPlan&) { return nullptr; }
std::unique_ptr<Kernel> dense_convolution_kernel(const ConvolutionPlan&) { return nullptr; }
std::unique_ptr<Kernel> dense_convolution_gradient_kernel(const ConvolutionPlan&, bool) { return nullptr; }
std::unique_ptr<DenseBytes> dense_bytes(const DenseBytesShape&, const std::int8_t*) { return nullptr; }

}  // namespace taskspec
