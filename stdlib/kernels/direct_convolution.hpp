// Convolution with few outputs per group: filters of single images (blur, Sobel) and depthwise layers. Where a
// product would have one or two rows, it is quicker to add each tap, times its weight, to a whole row of the
// result at once.
#pragma once
#include "stdlib/kernels/dense.hpp"

namespace taskspec {

// Whether this form is the quickest one for a plan in this precision.
bool suits_direct_convolution(const ConvolutionPlan& plan, Precision precision);

// Inputs x, w and the bias, in any precisions that the type rule of conv2d accepts.
std::unique_ptr<Kernel> direct_convolution_kernel(const ConvolutionPlan& plan, Precision x, Precision w, Precision out);

}  // namespace taskspec
