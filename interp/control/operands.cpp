#include "interp/control/operands.hpp"

#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

const Operand& operand_at(const OpDef& op, std::size_t position) {
  return op.operands[std::min(position, op.operands.size() - 1)];
}

bool reads_inputs(const Operand& operand) { return operand.kind == OperandKind::tensor || operand.at_run; }

}  // namespace

bool is_number_input(const Operand& operand, const Value& value) {
  return reads_inputs(operand) && (value.is_number() || value.is_bool());
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
    const Operand& operand = operand_at(op, i);
    Value attribute;
    if (operand.kind == OperandKind::tensors && value.is_list()) {
      for (const Value& item : value.list()) list.tensors.push_back(item);
    } else if (target.is_tensor(value) || (reads_inputs(operand) && value.as<GraphScalar>())) {
      list.tensors.push_back(value);
    } else if (is_number_input(operand, value)) {
      list.tensors.push_back(Value(scalar_array(value, number_precision(op, i, target, operands, result))));
    } else {
      attribute = value;
    }
    list.attributes.push_back(std::move(attribute));
  }
  return list;
}

}  // namespace taskspec
