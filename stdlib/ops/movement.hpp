// What the movement ops have in common: their operands, their work and the parts of their copies. Movement
// accepts every precision and never changes an element.
//
//   CopyPart body = axis_part(x, out, {.axis = 1, .count = 3, .from = 0, .to = 2});   // x[:, 0..3] to out[:, 2..5]
#pragma once
#include "ir/op.hpp"
#include "stdlib/kernels/copy.hpp"

namespace taskspec {

// The tensor type of an operand; E1004 for a host value.
const Type& moved_tensor(RuleContext& ctx, std::size_t operand = 0);

// One axis, counted from 0 and below `rank` (E2004); it must be known when the program is checked.
std::size_t one_axis(RuleContext& ctx, std::size_t operand, std::size_t rank);

// One axis or a tuple of different ones.
std::vector<std::size_t> several_axes(RuleContext& ctx, std::size_t operand, std::size_t rank);
std::vector<std::size_t> axes_value(const Value& value);

// An int operand as an extent; E2004 when it is known to be negative.
Dim extent_operand(RuleContext& ctx, std::size_t operand, std::string_view name);

struct AxisPart {
  std::size_t axis = 0;
  std::int64_t count = 0;          // elements along the axis
  std::int64_t from = 0, to = 0;   // where they begin, along the axis
};

// The part of x with these elements along one axis and all along the others, put into `out`.
CopyPart axis_part(const ArrayType& x, const ArrayType& out, const AxisPart& part, std::size_t input = 0);

// The same place in `out`, written with the filling.
CopyPart filled_part(const ArrayType& out, std::size_t axis, std::int64_t begin, std::int64_t end);

inline std::size_t element_bytes(const OpInstance& call) { return info(call.out[0].precision).bytes; }

// No arithmetic; every byte of the result is read and written once.
Work movement_work(const OpInstance& call);

}  // namespace taskspec
