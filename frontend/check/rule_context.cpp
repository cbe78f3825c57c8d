#include "frontend/check/rule_context.hpp"

#include "frontend/check/closures.hpp"
#include "frontend/check/extents.hpp"

namespace taskspec::checking {

namespace {

// A list of tensors written in place: the types of its elements, so that different shapes may stand in it.
Type operand_type(Body& body, const Term& term, OperandKind kind) {
  const Call& call = body[term.id];
  if (kind != OperandKind::tensors || call.form != Form::list) return call.type;
  std::vector<Type> parts;
  for (CallId in : call.in) parts.push_back(body.type(in));
  return Type::tuple(std::move(parts));
}

}  // namespace

CheckRules::CheckRules(Body& body, const Record& record, std::vector<RuleOperand>& operands)
    : body_(body), operands_(operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const RuleOperand& given = operands[i];
    values_.push_back(given.term.valid() ? body.known(given.term.id) : std::nullopt);
    if (given.closure)
      types_.push_back(Type::function({}, Type::Kind::none));
    else
      types_.push_back(given.term.valid() ? operand_type(body, given.term, operand_at(record, i).kind) : Type());
  }
}

const Value* CheckRules::constant(std::size_t operand) const { return values_[operand] ? &*values_[operand] : nullptr; }

std::optional<Dim> CheckRules::dim(std::size_t operand) const {
  const Term& term = operands_[operand].term;
  if (!term.valid() || !body_.type(term).is(Type::Kind::integer)) return std::nullopt;
  return extent_of(body_, term.id, body_.text(term.span));
}

std::vector<Term> CheckRules::terms() const {
  std::vector<Term> terms;
  for (const RuleOperand& given : operands_) terms.push_back(given.term);
  return terms;
}

void CheckRules::require_same(const Dim& a, const Dim& b, const std::string& what) {
  Same is_same = same(a, b);
  if (is_same == Same::yes) return;
  if (is_same == Same::no) fail("E2001", what, -1, chosen_by_callers(body_, a, b));
  Dim left = reachable(body_, a, terms()), right = reachable(body_, b, terms());
  if (is_reachable(body_, left) && is_reachable(body_, right))
    guards.push_back({left, right, what});
  else
    unproven = true;
}

Dim CheckRules::unknown(const std::string& name) { return unknown_extent(body_, name); }

Type CheckRules::closure(std::size_t operand, const std::vector<Type>& parameters) {
  RuleOperand& given = operands_[operand];
  if (given.closure) {
    given.term = function_value(body_, *given.closure, parameters);
    given.closure = nullptr;
    types_[operand] = body_.type(given.term);
  }
  return result_when_called(body_, given.term, parameters);
}

void CheckRules::fail(Code code, std::string message, int operand, std::string help) {
  throw RuleFailure{code, std::move(message), operand, std::move(help)};
}

}  // namespace taskspec::checking
