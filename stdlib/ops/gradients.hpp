// What gradients share: a broadcast forward call means a sum in the reverse one.
//
//   add_reduced(g, 1, g.emit("mul", {g.upstream(), g.input(0)}));
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

// `var` summed over the axes along which an operand of type `type` was stretched, in the shape of that operand.
GradientBuilder::Var reduce_to(GradientBuilder& g, GradientBuilder::Var var, const ArrayType& type);

// Adds `gradient`, which has the shape of the output, to that of a float input; others have none.
void add_reduced(GradientBuilder& g, std::size_t input, GradientBuilder::Var gradient);

// Whether the reverse of this input is asked for at all: only floats have one.
bool differentiable(GradientBuilder& g, std::size_t input);

// A gradient of a reduction's result, in the shape of what was reduced.
GradientBuilder::Var expand(GradientBuilder& g, GradientBuilder::Var var, const ArrayType& type);

// That of max and min: shared evenly among the elements that are the result.
void extremum_gradient(GradientBuilder& g);

// upstream * factor, into input 0: the chain rule of a function of one operand.
void chain(GradientBuilder& g, GradientBuilder::Var factor);

inline constexpr std::string_view no_float_result = "its result is not a float";
inline constexpr std::string_view piecewise_constant = "its derivative is 0 wherever it exists";

}  // namespace taskspec
