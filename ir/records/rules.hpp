// Type rules that ops share: which operands are tensors, whether their precisions agree, how their shapes
// broadcast, which axes are meant. They work on symbolic extents as on constants; what they cannot accept
// they report through the RuleContext.
//
//   Type add_type(RuleContext& c) { return arithmetic(c, "+"); }     f32[4, 1] + f32[N] -> f32[4, N]
//
// `symbol` is how the call is written in a message: an operator ("+") or the op's name ("maximum").
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/records/op.hpp"

namespace taskspec {

// The precisions an op computes with. Those that only store (tern u4 i9 i28) are in `any` alone.
enum class Takes : std::uint8_t {
  any,      // every precision
  ordered,  // bool, integers, floats
  numbers,  // integers, floats
  floats,
  integers,
  bits,  // bool, integers
};

// c.fail() for places where the compiler must see that it does not return; it cannot through a virtual call.
[[noreturn]] void refuse(RuleContext& c, Code code, std::string message, int operand = -1, std::string help = "");

// ---- operands -------------------------------------------------------------------------------------

// An operand is already known to be wrong: the rule answers Type::Kind::error and stays silent.
bool already_reported(const RuleContext& c);

// No operand is a tensor: the call is one of the host program.
bool all_host(const RuleContext& c);

// "f32[4] + f32[5]", "where(bool[4], f32[4], int)"
std::string call_text(const RuleContext& c, std::string_view symbol);

// The tensor type of an operand, of a precision that the op takes: else E1004, E2002.
const Type& tensor_operand(RuleContext& c, std::string_view symbol, std::size_t operand, Takes takes = Takes::any);

// The one precision of these operands (tensors or host numbers, at least one tensor): else E1004, E2002, E2003.
Precision common_precision(RuleContext& c, std::string_view symbol, std::span<const std::size_t> operands, Takes takes);

// E2003 when a host number known now is not exact in `precision`; E2002 for a float into an integer precision.
void require_fit(RuleContext& c, std::string_view symbol, std::size_t operand, Precision precision);

// Why an integer is not exact in `precision`: "300 does not fit i8 (-128..127)"; nothing when it is.
std::optional<std::string> misfit_text(std::int64_t value, Precision precision);

// The precision that a host number takes when it stands as a tensor operand: that of the tensors beside it,
// where a bool condition does not count. The same choice for the rule and for whoever makes the constant.
Precision scalar_precision(std::span<const Type> operands, std::size_t operand);

// ---- shapes ---------------------------------------------------------------------------------------

// Broadcasting: aligned from the right, a missing extent or 1 stretches. Else E2001.
std::vector<Dim> broadcast_dims(RuleContext& c, std::string_view symbol, std::span<const std::size_t> operands);

// E2001 unless the two shapes are equal, dimension by dimension; `text` is the pair as the message shows it.
void require_same_dims(RuleContext& c, const std::string& text, std::span<const Dim> a, std::span<const Dim> b);

// E2004 for a known negative extent.
void require_extents(RuleContext& c, std::span<const Dim> dims, int operand = -1);

// Operand `operand` (kind integer) as one axis of a shape of this rank, which lies in [0, rank): else E2004.
// Nothing when its value is not known now.
std::optional<std::size_t> axis_operand(RuleContext& c, std::size_t operand, std::size_t rank);

// Operand `operand` (kind axes) as a set of axes, ascending; all of them when it is left out. Else E2004.
// Nothing when its value is not known now.
std::optional<std::vector<std::size_t>> axes_operand(RuleContext& c, std::size_t operand, std::size_t rank);

// The axes that a call asks for, once everything is known: `value` is none, an int or a tuple.
std::vector<std::size_t> axes_of(const Value& value, std::size_t rank);

// ---- whole rules ----------------------------------------------------------------------------------

// All operands of kind tensor share a precision and broadcast; the result has that precision.
// At least one of them is a tensor.
Type elementwise(RuleContext& c, std::string_view symbol, Takes takes, std::size_t operands);

// Binary operators on tensors, on a tensor and a host number, and on two host values.
Type arithmetic(RuleContext& c, std::string_view symbol);  // - * / % and, with strings and lists, +
Type ordering(RuleContext& c, std::string_view symbol);    // < <= > >= : numbers and strings, gives bool
Type equality(RuleContext& c, std::string_view symbol);    // == != : any host values of like type, gives bool
Type bitwise(RuleContext& c, std::string_view symbol);     // & | : bool and integers

// A function of numbers such as abs or exp. On the host `keeps_int` tells whether ints give an int (abs)
// or a float (exp); a mix of int and float gives a float.
Type numeric(RuleContext& c, std::string_view symbol, Takes takes, std::size_t operands, bool keeps_int);

}  // namespace taskspec
