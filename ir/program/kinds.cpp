#include "ir/program/kinds.hpp"

#include <algorithm>

#include "ir/blocks/value.hpp"

namespace taskspec {

using Kind = Type::Kind;

bool agree(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.parts.size() != b.parts.size() || a.inputs != b.inputs || a.places != b.places)
    return false;
  if (a.is_tensor() && (a.precision != b.precision || a.rank() != b.rank())) return false;
  if (a.is(Kind::agent) && a.agent != b.agent) return false;
  if (a.fields != b.fields || (a.fields.valid() && a.dims.size() != b.dims.size())) return false;
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), agree);
}

bool fits(const Type& wanted, const Type& given) {
  return agree(wanted, given) || (wanted.is(Kind::real) && given.is(Kind::integer));
}

bool holds(const Type& type, const Value& value) {
  auto all = [](const List& items, auto type_of) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!holds(type_of(i), items[i])) return false;
    return true;
  };
  switch (type.kind) {
    case Kind::integer:
      return value.is_integer();
    case Kind::real:
      return value.is_number();
    case Kind::boolean:
      return value.is_bool();
    case Kind::string:
      return value.is_string();
    case Kind::range:
      return value.is_range();
    case Kind::type:
      return value.is_type();
    case Kind::tensor:
      return value.is_array() && agree(type, value.array().type().type());
    case Kind::list:
      return value.is_list() && all(value.list(), [&](std::size_t) -> const Type& { return type.parts[0]; });
    case Kind::tuple:
      return value.is_tuple() && value.tuple().items.size() == type.parts.size() &&
             all(value.tuple().items, [&](std::size_t i) -> const Type& { return type.parts[i]; });
    case Kind::blocks:
      return value.as<BlockGraphValue>() != nullptr;
    default:
      return false;
  }
}

Type value_type(const Function& function) {
  Type type(function.kind == FunctionKind::fn ? Kind::function : Kind::task);
  for (const Parameter& parameter : function.parameters)
    if (parameter.role == Role::declared) {
      if (type.is(Kind::task) && parameter.privilege == Privilege::inout && !parameter.type.is(Kind::view))
        type.places.push_back(static_cast<std::uint32_t>(type.parts.size()));
      type.parts.push_back(parameter.type);
    }
  type.inputs = type.is(Kind::task) ? static_cast<std::uint32_t>(type.parts.size()) : 0;
  if (type.is(Kind::function)) type.parts.push_back(function.result);
  for (const Output& output : function.outputs) type.parts.push_back(output.type);
  return type;
}

Type called(const Type& callable) {
  if (callable.is(Kind::function)) return callable.parts.back();
  Type type(Kind::invocation);
  type.parts.assign(callable.parts.begin() + callable.inputs, callable.parts.end());
  return type;
}

namespace {

// What the rule of an op or builtin sees of a call: kinds and constants, extents only where they are plain numbers.
class ImportRules final : public RuleContext {
 public:
  ImportRules(std::vector<Type> types, std::vector<const Value*> values)
      : types_(std::move(types)), values_(std::move(values)) {}

  std::size_t count() const override { return types_.size(); }
  const Type& type(std::size_t i) const override { return types_[i]; }
  const Value* constant(std::size_t i) const override { return values_[i]; }
  std::optional<Dim> dim(std::size_t i) const override {
    if (!types_[i].is(Kind::integer)) return std::nullopt;
    return values_[i] && values_[i]->is_integer() ? Dim(values_[i]->integer()) : fresh();
  }
  void require_same(const Dim&, const Dim&, const std::string&) override {}  // the run knows
  Dim unknown(const std::string&) override { return fresh(); }
  Type closure(std::size_t i, const std::vector<Type>& parameters) override {
    const Type& type = types_[i];
    bool fine = type.is(Kind::task) ? type.inputs == parameters.size() && type.places.empty()
                                    : type.is(Kind::function) && type.parts.size() == parameters.size() + 1;
    for (std::size_t k = 0; fine && k < parameters.size(); ++k) fine = fits(type.parts[k], parameters[k]);
    if (!fine) fail("E1004", "a function that cannot take its arguments", static_cast<int>(i), "");
    return called(type);
  }
  [[noreturn]] void fail(Code, std::string message, int, std::string) override {
    throw failure("E7003", {}, std::move(message));
  }

 private:
  Dim fresh() const {
    return Dim(std::make_shared<const SymbolInfo>(SymbolInfo{"_", UINT32_MAX - count_++, true, UINT32_MAX}));
  }
  std::vector<Type> types_;
  std::vector<const Value*> values_;
  mutable std::uint32_t count_ = 0;
};

}  // namespace

Type ruled(TypeRule rule, std::vector<Type> types, std::vector<const Value*> values) {
  ImportRules rules(std::move(types), std::move(values));
  return rule(rules);
}

}  // namespace taskspec
