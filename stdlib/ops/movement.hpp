// What the movement ops have in common: their operands, their work and the parts of their copies. Movement
// accepts every precision and never changes an element.
//
//   CopyPart body = axis_part(x, out, {.axis = 1, .count = 3, .from = 0, .to = 2});   // x[:, 0..3] to out[:, 2..5]
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/copy.hpp"

namespace taskspec {

// A shape of which the run alone knows more than the rank, because an axis is a host value.
std::vector<Dim> unknown_dims(RuleContext& ctx, std::size_t rank);

// How many axes an operand of kind `axes` names, which its type tells: an int one, a tuple as many as it has.
std::size_t given_axes(const RuleContext& ctx, std::size_t operand);

// An int operand as an extent; E2004 when it is known to be negative.
Dim extent_operand(RuleContext& ctx, std::size_t operand);

struct AxisPart {
  std::size_t axis = 0;
  std::int64_t count = 0;         // elements along the axis
  std::int64_t from = 0, to = 0;  // where they begin, along the axis
};

// The part of x with these elements along one axis and all along the others, put into `out`.
CopyPart axis_part(const ArrayType& x, const ArrayType& out, const AxisPart& part, std::size_t input = 0);

// The same place in `out`, written with the filling.
CopyPart filled_part(const ArrayType& out, std::size_t axis, std::int64_t begin, std::int64_t end);

// The elements of operand 0 in the opposite order along the axes that operand 1 names.
std::unique_ptr<Kernel> mirror_kernel(const OpInstance& call);

inline std::size_t element_bytes(const OpInstance& call) { return info(call.out[0].precision).bytes; }

// No arithmetic; every byte of the result is read and written once.
Work movement_work(const OpInstance& call);

// For gradients: v[begin..end] along one axis, whole along the others.
GradientBuilder::Var slice_along(GradientBuilder& g, GradientBuilder::Var v, std::size_t axis, std::int64_t begin,
                                 std::int64_t end);

}  // namespace taskspec
