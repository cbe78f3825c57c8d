// Convolutions in f32 with windows of 3 x 3, and their gradients, in Winograd's form F(4x4, 3x3): a quarter of the
// products, and sums before and behind them. What it gives is off by some 1e-6 of the largest element.
//
//   if (suits_winograd(plan)) kernel = winograd_kernel(plan, ConvolutionPart::result);
#pragma once
#include "stdlib/kernels/image_lanes.hpp"

namespace taskspec {

// On this machine, which must have vectors of sixteen floats.
bool suits_winograd(const ConvolutionPlan& plan);

// Inputs as for the dense kernels (dense.hpp).
std::unique_ptr<Kernel> winograd_kernel(const ConvolutionPlan& plan, ConvolutionPart part);

}  // namespace taskspec
