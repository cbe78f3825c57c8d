#include "interp/control/rules.hpp"

#include "interp/control/frame.hpp"

namespace taskspec {

namespace {

// The run-time code of what the checker calls by the code on the left.
Code at_run_time(Code code) {
  if (code == Code("E2001")) return "E5004";
  if (code == Code("E2003")) return "E5001";
  if (code == Code("E2004")) return "E5003";
  return code;
}

class RunRules final : public RuleContext {
 public:
  RunRules(const std::vector<Type>& types, std::span<const Value> values, std::uint32_t& unknown)
      : types_(types), values_(values), unknown_(unknown) {}

  std::size_t count() const override { return types_.size(); }
  const Type& type(std::size_t i) const override { return types_[i]; }
  const Value* constant(std::size_t i) const override {
    const Value& value = values_[i];
    return value.is_none() || types_[i].is_tensor() || value.as<GraphScalar>() ? nullptr : &value;
  }
  std::optional<Dim> dim(std::size_t i) const override { return extent_of(values_[i]); }
  void require_same(const Dim& a, const Dim& b, const std::string& what) override {
    if (a.is_constant() && b.is_constant() && !(a == b)) fail("E2001", what, -1, "");
  }
  Dim unknown(const std::string& name) override {
    // Only reached for values that are symbolic in a viewed graph; each is an extent of its own.
    return Dim(std::make_shared<const SymbolInfo>(SymbolInfo{name, UINT32_MAX - unknown_++, true, UINT32_MAX}));
  }
  Type closure(std::size_t i, const std::vector<Type>&) override {
    return types_[i].is(Type::Kind::function) ? types_[i].parts.back() : types_[i];
  }
  [[noreturn]] void fail(Code code, std::string message, int, std::string help) override {
    Diag diag(at_run_time(code), Severity::error, {}, std::move(message));
    diag.help(std::move(help));
    throw Error(std::move(diag));
  }

 private:
  const std::vector<Type>& types_;
  std::span<const Value> values_;
  std::uint32_t& unknown_;
};

}  // namespace

Type result_type(const OpDef& op, const std::vector<Type>& types, std::span<const Value> values,
                 std::uint32_t& unknown) {
  RunRules rules(types, values, unknown);
  return op.type(rules);
}

void refuse_negative_extents(const Type& type, const std::string& what, Span span) {
  for (const Dim& dim : type.dims)
    if (auto extent = dim.constant(); extent && *extent < 0)
      throw failure("E5004", span, what + " would be " + type.text() + ", with a negative extent");
}

namespace {

std::shared_ptr<GraphScalar> open_scalar(const std::string& name, const Type& type, std::uint32_t symbol) {
  auto scalar = std::make_shared<GraphScalar>();
  scalar->written = name;
  scalar->type = type;
  scalar->dim = Dim(std::make_shared<const SymbolInfo>(SymbolInfo{name, symbol, true, UINT32_MAX}));
  return scalar;
}

Value as_value(std::shared_ptr<GraphScalar> scalar) {
  return Value(std::static_pointer_cast<Object>(std::move(scalar)));
}

}  // namespace

Value unknown_scalar(const std::string& name, const Type& type, std::uint32_t symbol, std::uint32_t input) {
  std::shared_ptr<GraphScalar> scalar = open_scalar(name, type, symbol);
  scalar->input = input;
  if (type.is(Type::Kind::range)) {
    const Type bound = Type::Kind::integer;
    scalar->operands = {as_value(open_scalar(name + ".begin", bound, symbol + 1)),
                        as_value(open_scalar(name + ".end", bound, symbol + 2))};
  }
  return as_value(std::move(scalar));
}

Value scalar_of(const Dim& dim) {
  if (auto constant = dim.constant()) return Value(*constant);
  auto scalar = std::make_shared<GraphScalar>();
  scalar->written = dim.text();
  scalar->type = Type::Kind::integer;
  scalar->dim = dim;
  return Value(std::static_pointer_cast<Object>(scalar));
}

bool any_symbolic(std::span<const Value> values) {
  for (const Value& value : values)
    if (value.as<GraphScalar>()) return true;
  return false;
}

Value symbolic_op(const OpDef& op, std::span<const Value> operands, const Type& type) {
  auto scalar = std::make_shared<GraphScalar>();
  scalar->type = type;
  scalar->op = &op;
  scalar->operands.assign(operands.begin(), operands.end());
  scalar->ops = 1;
  for (const Value& operand : operands)
    if (auto* open = operand.as<GraphScalar>()) scalar->ops += open->ops;
  std::vector<Dim> extents;
  for (const Value& operand : operands)
    if (std::optional<Dim> extent = extent_of(operand)) extents.push_back(*std::move(extent));
  const bool all = extents.size() == operands.size() && extents.size() == op.operands.size();
  if (type.is(Type::Kind::integer) && op.extent && !op.divides && all) {  // a quotient may drop a rest
    scalar->dim = op.extent(extents);
    scalar->written = scalar->dim.text();
  } else {
    scalar->written = std::string(op.name) + "(";
    for (std::size_t i = 0; i < operands.size(); ++i) scalar->written += (i ? ", " : "") + print(operands[i]);
    scalar->written += ")";
    if (type.is(Type::Kind::integer))
      scalar->dim = Dim(std::make_shared<const SymbolInfo>(SymbolInfo{
          scalar->written, static_cast<std::uint32_t>(std::hash<std::string>{}(scalar->written)) | 0x80000000u, true,
          UINT32_MAX}));
  }
  return Value(std::static_pointer_cast<Object>(scalar));
}

}  // namespace taskspec
