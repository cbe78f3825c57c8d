#include "interp/backends/time_steps.hpp"

#include "ir/base/text.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

bool is_wrong(std::int64_t steps) { return steps < 1 || steps > most_time_steps; }

std::string wrong_steps(std::int64_t steps) {
  return "time_steps lies in 1.." + std::to_string(most_time_steps) + ", not " + std::to_string(steps);
}

}  // namespace

std::optional<Dim> time_steps(RuleContext& c, std::size_t operand) {
  if (c.type(operand).is(Type::Kind::none)) return std::nullopt;
  if (!c.type(operand).is(Type::Kind::integer)) c.fail("E1004", "time_steps is an int", static_cast<int>(operand));
  if (const Value* steps = c.constant(operand)) {
    if (is_wrong(steps->integer())) c.fail("E1003", wrong_steps(steps->integer()), static_cast<int>(operand));
    return Dim(steps->integer());
  }
  std::optional<Dim> open = c.dim(operand);
  return open ? open : c.unknown(std::string(time_steps_option));
}

void check_time_steps(const Value& option) {
  if (option.is_integer() && is_wrong(option.integer())) throw failure("E5003", {}, wrong_steps(option.integer()));
}

}  // namespace taskspec
