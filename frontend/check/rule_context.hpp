// What the type rule of an op or builtin sees of a call that is being checked, and what it may say.
#pragma once
#include "frontend/check/record_call.hpp"

namespace taskspec::checking {

// Thrown by a rule, caught where the rule is run.
struct RuleFailure {
  Code code;
  std::string message;
  int operand;
  std::string help;
};

class CheckRules final : public RuleContext {
 public:
  CheckRules(Body& body, const Record& record, std::vector<RuleOperand>& operands);

  std::size_t count() const override { return operands_.size(); }
  const Type& type(std::size_t operand) const override { return types_[operand]; }
  const Value* constant(std::size_t operand) const override;
  std::optional<Dim> dim(std::size_t operand) const override;
  void require_same(const Dim& a, const Dim& b, const std::string& what) override;
  Dim unknown(const std::string& name) override;
  Type closure(std::size_t operand, const std::vector<Type>& parameters) override;
  [[noreturn]] void fail(Code code, std::string message, int operand, std::string help) override;

  std::vector<Guard> guards;
  bool unproven = false;  // some extents cannot be compared by a guard: the rule must be asked again at the run

 private:
  std::vector<Term> terms() const;

  Body& body_;
  std::vector<RuleOperand>& operands_;
  // Copies, as a rule holds on to them while it has extents made, which are calls too.
  std::vector<Type> types_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace taskspec::checking
