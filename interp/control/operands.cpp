#include "interp/control/operands.hpp"

#include "ir/scalar.hpp"

namespace taskspec {

OperandList sort_operands(const OpDef& op, const Target& target, std::span<const Value> operands, const Type& result) {
  // A host number among tensors takes the precision of the last of them (`where(c, 1.0, x)`: that of x).
  Precision precision = result.precision;
  for (const Value& value : operands)
    if (target.is_tensor(value)) precision = target.type_of(value).precision;
  OperandList list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value& value = operands[i];
    OperandKind kind = op.operands[std::min(i, op.operands.size() - 1)].kind;
    Value attribute;
    if (kind == OperandKind::tensors && value.is_list()) {
      for (const Value& item : value.list()) list.tensors.push_back(item);
    } else if (target.is_tensor(value)) {
      list.tensors.push_back(value);
    } else if (kind == OperandKind::tensor && value.is_number()) {
      list.tensors.push_back(Value(scalar_array(value, precision)));
    } else if (kind == OperandKind::tensor && value.as<GraphScalar>()) {
      list.tensors.push_back(value);
    } else {
      attribute = value;
    }
    list.attributes.push_back(std::move(attribute));
  }
  return list;
}

}  // namespace taskspec
