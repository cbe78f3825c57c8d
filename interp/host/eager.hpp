// The eager schedule as a plan of its own: every task is a step, in program order, and no value takes over
// the bytes of another while somebody could still read them.
#pragma once
#include <memory>

#include "ir/plan/plan.hpp"

namespace taskspec {

std::shared_ptr<const Plan> unaggregated(const Plan& plan);

}  // namespace taskspec
