// Op records without kernels for tests of planning: one that may write over its input and one that has its bytes.
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

inline constexpr Operand fake_operands[] = {{.name = "x"}, {.name = "y"}};

consteval OpFields fake_op(std::string_view name, Sharing sharing) {
  OpFields fields;
  fields.name = name;
  fields.operands = fake_operands;
  fields.doc = "Exists for a test only.";
  fields.example = "none";
  fields.type = [](RuleContext& context) { return context.type(0); };
  fields.kernel = [](const OpInstance&) { return std::unique_ptr<Kernel>(); };
  fields.gradient = Gradient::none("a test needs none");
  fields.lower = Lowering::none("a test needs none");
  fields.sharding = Sharding::none("a test needs none");
  fields.work = [](const OpInstance&) { return Work{}; };
  fields.sharing = sharing;
  return fields;
}

inline constinit const OpDef fake_relu(fake_op("relu", Sharing::in_place));
inline constinit const OpDef fake_reshape(fake_op("reshape", Sharing::same_bytes));

inline Definition definition_of(const OpDef& op) {
  Definition definition;
  definition.kind = Definition::Kind::op;
  definition.name = op.name;
  definition.op = &op;
  definition.inputs = {"x", "y"};
  definition.outputs = {"value"};
  return definition;
}

}  // namespace taskspec
