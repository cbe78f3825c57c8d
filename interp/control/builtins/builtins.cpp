#include "interp/control/builtins/builtins.hpp"

namespace taskspec {

BuiltinTable core_builtins() {
  static constexpr const Builtin* table[] = {
#define BUILTIN(name) &builtin_##name,
#include "interp/control/builtins/builtins.def"
#undef BUILTIN
  };
  return BuiltinTable(table);
}

namespace builtins {

void wrong_type(RuleContext& c, std::size_t operand, const std::string& wanted) {
  c.fail("E1004", "expected " + wanted + ", found " + c.type(operand).text(), static_cast<int>(operand));
  __builtin_unreachable();
}

bool is(RuleContext& c, std::size_t operand, Type::Kind kind) {
  return c.type(operand).is(kind) || c.type(operand).is(Type::Kind::error);
}

void want(RuleContext& c, std::size_t operand, Type::Kind kind, const std::string& wanted) {
  if (!is(c, operand, kind)) wrong_type(c, operand, wanted);
}

Type element_of(RuleContext& c, std::size_t operand, const std::string& wanted) {
  const Type& type = c.type(operand);
  if (type.is(Type::Kind::error)) return type;
  if (type.is(Type::Kind::range)) return Type::Kind::integer;
  if (!type.is(Type::Kind::list)) wrong_type(c, operand, wanted);
  return type.parts[0];
}

void want_memory_for(std::uint64_t items) {
  if (items > memory_limit() / sizeof(Value))
    throw failure("E5008", {}, "a list of " + std::to_string(items) + " items does not fit into the memory");
}

List items_of(const Value& value) {
  if (value.is_list()) return value.list();
  want_memory_for(static_cast<std::uint64_t>(value.range().size()));
  List items;
  for (std::int64_t i = value.range().begin; i < value.range().end; ++i) items.push_back(Value(i));
  return items;
}

Value written(HostContext& host) {
  if (host.replica) host.replica->agree(host.part, host.agreed++, {});
  return {};
}

}  // namespace builtins
}  // namespace taskspec
