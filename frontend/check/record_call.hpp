// Calls of ops and builtins: arguments by their records, the type by their rule, constants folded.
//
//   x.sum(0)      ->      op sum(%x, %0) : f32[1]
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// An op or a builtin: both are called by a list of operands and typed by a rule.
struct Record {
  const OpDef* op = nullptr;
  const Builtin* builtin = nullptr;

  explicit operator bool() const { return op || builtin; }
  std::string_view name() const { return op ? op->name : builtin->name; }
  std::span<const taskspec::Operand> operands() const { return op ? op->operands : builtin->operands; }
  TypeRule rule() const { return op ? op->type : builtin->type; }
};

// The operand that value number `place` goes to; variadic ones share the last.
inline const taskspec::Operand& operand_at(const Record& record, std::size_t place) {
  return record.operands()[std::min(place, record.operands().size() - 1)];
}

// What is known by this name; an op and a builtin may share it.
Record find_op(const World& world, std::string_view name);
Record find_builtin(const World& world, std::string_view name);

// One operand ready for the rule. A closure has no type before the rule says what its parameters are.
struct RuleOperand {
  Term term;
  const ast::Expr* closure = nullptr;
};

// An operand that has this value when the text does not give one.
struct Implied {
  std::string_view operand;
  Term term;
};

// name(args), and receiver.name(args) with the receiver as the first operand.
Term call_record(Body& body, const Record& record, const std::optional<Term>& receiver, std::span<const ast::Arg> args,
                 Span span, std::span<const Implied> implied = {});

// All operands are there, in declared order, invalid ones take their defaults. `sign` is the operator as written,
// for calls that have one; `rule`, where it is given, stands for the record's own: `&&` does what `&` does.
Term call_with(Body& body, const Record& record, std::vector<RuleOperand> operands, Span span, Span sign = {},
               TypeRule rule = nullptr);

// The op of an operator, which has as many operands.
Term operator_call(Body& body, std::string_view symbol, const std::vector<Term>& operands, Span span, Span sign,
                   TypeRule rule = nullptr);
// The op that the language itself calls where nobody writes its name.
Term served_call(Body& body, Serves serves, const std::vector<Term>& operands, Span span);
Term cast_to(Body& body, const Term& value, const Type& type, Span span);
// A written type as an operand.
Term type_operand(Body& body, const Type& type, Span span);

}  // namespace taskspec::checking
