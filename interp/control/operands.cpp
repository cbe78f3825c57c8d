#include "interp/control/operands.hpp"

#include "ir/rules.hpp"
#include "ir/scalar.hpp"

namespace taskspec {

OperandList sort_operands(const OpDef& op, const Target& target, std::span<const Value> operands, const Type& result) {
  std::vector<Type> types;
  bool tensors = false;
  for (const Value& value : operands) {
    bool is_tensor = target.is_tensor(value);
    types.push_back(is_tensor ? target.type_of(value) : Type());
    tensors = tensors || is_tensor;
  }
  OperandList list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value& value = operands[i];
    OperandKind kind = op.operands[std::min(i, op.operands.size() - 1)].kind;
    Value attribute;
    if (kind == OperandKind::tensors && value.is_list()) {
      for (const Value& item : value.list()) list.tensors.push_back(item);
    } else if (target.is_tensor(value) || (kind == OperandKind::tensor && value.as<GraphScalar>())) {
      list.tensors.push_back(value);
    } else if (kind == OperandKind::tensor && (value.is_number() || value.is_bool())) {
      Precision precision = tensors ? scalar_precision(types, i) : result.precision;
      list.tensors.push_back(Value(scalar_array(value, precision)));
    } else {
      attribute = value;
    }
    list.attributes.push_back(std::move(attribute));
  }
  return list;
}

}  // namespace taskspec
