#include "interp/control/operands.hpp"

#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

bool reads_inputs(const Operand& operand) { return operand.kind == OperandKind::tensor || operand.at_run; }

OperandUse use_of(const OpDef& op, std::size_t position, const Value& value, const Target& target) {
  const Operand& operand = operand_at(op, position);
  if (operand.kind == OperandKind::tensors && value.is_list()) return OperandUse::tensors;
  if (target.is_tensor(value) || (reads_inputs(operand) && value.as<GraphScalar>())) return OperandUse::tensor;
  return reads_inputs(operand) && (value.is_number() || value.is_bool()) ? OperandUse::number : OperandUse::attribute;
}

Precision number_precision(const OpDef& op, std::size_t position, const Target& target, std::span<const Value> operands,
                           const Type& result) {
  if (operand_at(op, position).at_run) return Precision::i64;
  std::vector<Type> types;
  bool tensors = false;
  for (const Value& value : operands) {
    const bool is_tensor = target.is_tensor(value);
    types.push_back(is_tensor ? target.type_of(value) : Type());
    tensors = tensors || is_tensor;
  }
  return tensors ? scalar_precision(types, position) : result.precision;
}

OperandList sort_operands(const OpDef& op, const Target& target, std::span<const Value> operands, const Type& result) {
  OperandList list;
  list.attributes.reserve(operands.size());
  list.tensors.reserve(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value& value = operands[i];
    Value attribute;
    switch (use_of(op, i, value, target)) {
      case OperandUse::tensors:
        list.tensors.insert(list.tensors.end(), value.list().begin(), value.list().end());
        break;
      case OperandUse::tensor:
        list.tensors.push_back(value);
        break;
      case OperandUse::number:
        list.tensors.push_back(Value(scalar_array(value, number_precision(op, i, target, operands, result))));
        break;
      case OperandUse::attribute:
        attribute = value;
    }
    list.attributes.push_back(std::move(attribute));
  }
  return list;
}

}  // namespace taskspec
