// The plan that a graph with launches would run by, made before it runs: a launch becomes its points, as in a session
// that is asked for the results of all of it at once.
#pragma once
#include <memory>

#include "ir/plan/plan.hpp"

namespace taskspec {

// Null where the extents are not known yet, where a task besides the launches writes what others see, or where there
// are more points than anybody looks at.
std::shared_ptr<const Plan> plan_of_points(const TaskGraph& graph);

}  // namespace taskspec
