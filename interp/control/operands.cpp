#include "interp/control/operands.hpp"

#include "ir/rules.hpp"
#include "ir/scalar.hpp"

namespace taskspec {

Precision number_precision(std::size_t position, const Target& target, std::span<const Value> operands,
                           const Type& result) {
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
    OperandKind kind = op.operands[std::min(i, op.operands.size() - 1)].kind;
    Value attribute;
    if (kind == OperandKind::tensors && value.is_list()) {
      for (const Value& item : value.list()) list.tensors.push_back(item);
    } else if (target.is_tensor(value) || (kind == OperandKind::tensor && value.as<GraphScalar>())) {
      list.tensors.push_back(value);
    } else if (kind == OperandKind::tensor && (value.is_number() || value.is_bool())) {
      list.tensors.push_back(Value(scalar_array(value, number_precision(i, target, operands, result))));
    } else {
      attribute = value;
    }
    list.attributes.push_back(std::move(attribute));
  }
  return list;
}

}  // namespace taskspec
