#include "ir/records/op_outputs.hpp"

#include <algorithm>

namespace taskspec {

using Kind = Type::Kind;

bool is_place(const OpDef& op, std::string_view name) {
  return std::any_of(op.operands.begin(), op.operands.end(), [&](const Operand& operand) {
    return operand.privilege == Privilege::inout && operand.name == name;
  });
}

Type result_of_call(const OpDef& op, const Type& ruled) {
  if (ruled.is(Kind::tuple) && !op.outputs.empty()) return Type::list(ruled.parts.at(0));
  if (!ruled.is(Kind::invocation)) return ruled;
  Type result(Kind::invocation);
  for (std::size_t i = 0; i < ruled.parts.size(); ++i) {
    if (is_place(op, ruled.names[i])) continue;
    result.parts.push_back(ruled.parts[i]);
    result.names.push_back(ruled.names[i]);
  }
  return result.parts.empty() ? Type() : result;
}

std::span<const Type> output_types(const Type& ruled) {
  if (ruled.is_tensor()) return {&ruled, 1};
  if (ruled.is(Kind::list)) throw failure("E5004", {}, "how many tensors there will be is not known here");
  return ruled.parts;
}

std::vector<std::string> output_names(const OpDef& op, const Type& ruled) {
  if (op.outputs.empty()) return {"value"};
  return ruled.is(Kind::invocation) ? ruled.names : std::vector<std::string>{std::string(op.outputs[0])};
}

std::optional<std::size_t> console_operand(const OpDef& op) {
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].supply == Supply::console) return i;
  return std::nullopt;
}

bool makes_tensors(const OpDef& op, const Type& result) { return result.is_tensor() || !op.outputs.empty(); }

}  // namespace taskspec
