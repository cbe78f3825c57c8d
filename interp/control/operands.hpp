// The operands of an op call sorted into what a kernel reads as data and what it takes as attributes.
#pragma once
#include "interp/control/target.hpp"

namespace taskspec {

struct OperandList {
  std::vector<Value> tensors;     // in order; lists of tensors spread out; host numbers as arrays
  std::vector<Value> attributes;  // one per operand given, none for tensors
};

// What becomes of one that an op is given.
enum class OperandUse : std::uint8_t {
  tensor,     // an input; so are numbers of graphs that are only looked at
  tensors,    // a list of them
  number,     // that kernels read from an input of one element
  attribute,  // a host value, which is a part of the plan
};
OperandUse use_of(const OpDef& op, std::size_t position, const Value& value, const Target& target);
bool reads_inputs(const Operand& operand);  // kernels do, also where it is a host number
// What a number among the operands of an op becomes, operand `position`: the precision of the tensors beside it, i64
// where it comes with each run.
Precision number_precision(const OpDef& op, std::size_t position, const Target& target, std::span<const Value> operands,
                           const Type& result);
OperandList sort_operands(const OpDef& op, const Target& target, std::span<const Value> operands, const Type& result);

}  // namespace taskspec
