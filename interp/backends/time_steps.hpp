// The option `time_steps` of backends that have it: how often a session runs what it is given.
#pragma once
#include <optional>

#include "ir/records/backend_record.hpp"
#include "ir/records/rule_context.hpp"

namespace taskspec {

// The extent that the backend's type has by it; nothing where it is left out.
std::optional<Dim> time_steps(RuleContext& c, std::size_t operand);
// What only the run knows: E5003 for a number of steps that cannot be.
void check_time_steps(const Value& option);

}  // namespace taskspec
