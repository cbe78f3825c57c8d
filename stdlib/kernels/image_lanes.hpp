// Convolutions of few channels in f32, and their gradients: sixteen images of the batch lie side by side, one in each
// lane of a vector. So no lane is spent on channels that are not there, and no edge of an image is a special case.
//
//   if (suits_image_lanes(plan, ConvolutionPart::result)) kernel = image_lanes_kernel(plan, ConvolutionPart::result);
#pragma once
#include "stdlib/kernels/dense.hpp"

namespace taskspec {

enum class ConvolutionPart : std::uint8_t { result, image_gradient, weight_gradient };

// On this machine, which must have vectors as wide.
bool suits_image_lanes(const ConvolutionPlan& plan, ConvolutionPart part);

// Inputs as for the dense kernels (dense.hpp).
std::unique_ptr<Kernel> image_lanes_kernel(const ConvolutionPlan& plan, ConvolutionPart part);

}  // namespace taskspec
