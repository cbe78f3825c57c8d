#include "ir/records/op.hpp"

#include <algorithm>

namespace taskspec {

Value Default::value() const {
  switch (kind) {
    case Kind::none:
    case Kind::absent:
      return {};
    case Kind::integer:
      return integer;
    case Kind::real:
      return real;
    case Kind::boolean:
      return integer != 0;
    case Kind::string:
      return std::string(string);
  }
  return {};
}

void Serial::run(std::int64_t count, std::int64_t grain, Body body, void* context) {
  for (std::int64_t begin = 0; begin < count; begin += grain) body(context, begin, std::min(begin + grain, count));
}

const Operand& operand_at(const OpDef& op, std::size_t position) {
  return op.operands[std::min(position, op.operands.size() - 1)];
}

const OpDef* OpTable::find(std::string_view name) const {
  auto found = std::lower_bound(ops_.begin(), ops_.end(), name,
                                [](const OpDef* op, std::string_view wanted) { return op->name < wanted; });
  return found != ops_.end() && (*found)->name == name ? *found : nullptr;
}

const OpDef* OpTable::find_operator(std::string_view symbol, std::size_t operands) const {
  for (const OpDef* op : ops_)
    if (op->symbol == symbol && (op->operands.size() == operands || op->operands.back().variadic)) return op;
  return nullptr;
}

const OpDef* OpTable::serving(Serves serves) const {
  auto found = std::ranges::find(ops_, serves, [](const OpDef* op) { return op->serves; });
  return found == ops_.end() ? nullptr : *found;
}

namespace {

Type default_type(const Default& standard) {
  switch (standard.kind) {
    case Default::Kind::none:
    case Default::Kind::absent:
      return Type::Kind::none;
    case Default::Kind::integer:
      return Type::Kind::integer;
    case Default::Kind::real:
      return Type::Kind::real;
    case Default::Kind::boolean:
      return Type::Kind::boolean;
    case Default::Kind::string:
      return Type::Kind::string;
  }
  return Type::Kind::none;
}

// A rule sees the same questions as in the checker, and nothing here is open.
class KnownCall final : public RuleContext {
 public:
  KnownCall(const OpDef& op, std::vector<Type> types, std::vector<Value> values, Span span)
      : types_(std::move(types)), values_(std::move(values)), span_(span) {
    values_.resize(std::max(values_.size(), types_.size()));
    for (std::size_t i = 0; i < types_.size(); ++i)  // a written type may come as itself
      if (values_[i].is_type() && !types_[i].is(Type::Kind::type)) types_[i] = Type::of(types_[i]);
    for (std::size_t i = types_.size(); i < op.operands.size(); ++i) {
      if (op.operands[i].variadic) break;
      types_.push_back(default_type(op.operands[i].standard));
      values_.push_back(op.operands[i].standard.value());
    }
  }

  std::size_t count() const override { return types_.size(); }
  const Type& type(std::size_t operand) const override { return types_[operand]; }
  const Value* constant(std::size_t operand) const override {
    return values_[operand].is_none() ? nullptr : &values_[operand];
  }
  std::optional<Dim> dim(std::size_t operand) const override {
    if (!values_[operand].is_integer()) return std::nullopt;
    return Dim(values_[operand].integer());
  }
  void require_same(const Dim& a, const Dim& b, const std::string& what) override {
    if (!(a == b)) fail("E2001", what, -1, "");
  }
  Dim unknown(const std::string& name) override { bug("an op asks for the unknown " + name + " of a known call"); }
  Type closure(std::size_t operand, const std::vector<Type>&) override { return types_[operand].parts.back(); }
  [[noreturn]] void fail(Code code, std::string message, int, std::string help) override {
    Diag diag(code, Severity::error, span_, std::move(message));
    diag.help(std::move(help));
    throw Error(std::move(diag));
  }

 private:
  std::vector<Type> types_;
  std::vector<Value> values_;
  Span span_;
};

}  // namespace

Type infer(const OpDef& op, const std::vector<Type>& types, const std::vector<Value>& values, Span span) {
  KnownCall call(op, types, values, span);
  return op.type(call);
}

}  // namespace taskspec
