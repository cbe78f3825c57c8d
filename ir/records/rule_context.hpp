// The type rule of an op, and what it sees of one call.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// What a type rule sees of one call and what it may say. The checker, the graph builder and the session
// implement it; the rule is the same for symbolic and for concrete shapes. Operands are in declared
// order, defaults filled in; variadic ones follow.
class RuleContext {
 public:
  virtual ~RuleContext() = default;
  virtual std::size_t count() const = 0;
  virtual const Type& type(std::size_t operand) const = 0;
  virtual const Value* constant(std::size_t operand) const = 0;   // null when not known now
  virtual std::optional<Dim> dim(std::size_t operand) const = 0;  // an int operand as an extent; always there for ints
  // Demands a == b: nothing if equal, a guard if that depends on host values, else E2001 with `what`.
  virtual void require_same(const Dim& a, const Dim& b, const std::string& what) = 0;
  // A fresh open extent for what depends on values not known now.
  virtual Dim unknown(const std::string& name) = 0;
  // Types a closure given as operand with these parameter types and returns its result type.
  virtual Type closure(std::size_t operand, const std::vector<Type>& parameters) = 0;
  // Ends the rule with an error; `operand` is the one to underline, -1 the whole call.
  [[noreturn]] virtual void fail(Code code, std::string message, int operand = -1, std::string help = "") = 0;
};

using TypeRule = Type (*)(RuleContext&);

}  // namespace taskspec
