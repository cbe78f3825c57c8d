// What conv2d and its two gradients have in common. All three name x [B, C, H, W], w [O, C / groups, kh, kw] and
// y [B, O, H', W'], two as operands and one as the result; stride, pad, dilation and groups are their operands 3
// to 6.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/image_lanes.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec {

// The shape of y (E2001, E1003), of `precision`.
Type convolution_type(RuleContext& ctx, const Type& x, const Type& w, Precision precision);

// For the gradients: the given y must have the shape that x and w make.
void require_convolution(RuleContext& ctx, const Type& x, const Type& w, const Type& y);

ConvolutionPlan convolution_plan(const OpInstance& call, const Extents& x, const Extents& w, const Extents& y);

// conv2d as products, one per group of each image: weights [O / groups, C / groups * taps] by windows.
ProductPlan convolution_product(const OpInstance& call, const ConvolutionPlan& plan);

// Of a call of conv2d, or of one that has its operands and shapes.
std::unique_ptr<Kernel> convolution_kernel(const OpInstance& call);

// In f32, of the result or of one of the gradients; null where there is none but the product.
std::unique_ptr<Kernel> best_convolution_kernel(const ConvolutionPlan& plan, ConvolutionPart part);

// The operands stride, pad, dilation and groups of a call, behind `first`.
std::vector<std::variant<GradientBuilder::Var, Value>> with_windows(
    const OpInstance& call, std::vector<std::variant<GradientBuilder::Var, Value>> first);

}  // namespace taskspec
