#include "interp/control/target.hpp"

#include "interp/control/rules.hpp"

namespace taskspec {

bool Target::holds_open(std::span<const Value> values) const { return any_symbolic(values); }

Value Target::number(const Frame&, const Call& call, std::span<const Value> operands) {
  return symbolic_op(*call.op, operands, call.type);
}

}  // namespace taskspec
