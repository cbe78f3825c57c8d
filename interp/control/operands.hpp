// The operands of an op call sorted into what a kernel reads as data and what it takes as attributes.
#pragma once
#include "interp/control/target.hpp"

namespace taskspec {

struct OperandList {
  std::vector<Value> tensors;     // in order; lists of tensors spread out; host numbers as arrays
  std::vector<Value> attributes;  // one per operand given, none for tensors
};

// A number that kernels read from an input of one element.
bool is_number_input(const Operand& operand, const Value& value);
// What a number among the operands of an op becomes, operand `position`: the precision of the tensors beside it, i64
// where it comes with each run.
Precision number_precision(const OpDef& op, std::size_t position, const Target& target, std::span<const Value> operands,
                           const Type& result);
OperandList sort_operands(const OpDef& op, const Target& target, std::span<const Value> operands, const Type& result);

}  // namespace taskspec
