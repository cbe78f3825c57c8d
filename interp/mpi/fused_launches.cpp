#include "interp/mpi/fused_launches.hpp"

#include <set>

#include "ir/graph/launch.hpp"

namespace taskspec {

std::uint64_t fused_launches(const Plan& plan) {
  const TaskGraph& graph = *plan.graph;
  std::set<NodeId> fused;  // by the first point
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    const PointGroup* before = nullptr;
    for (std::size_t task = plan.step_starts[step]; task < plan.step_starts[step + 1]; ++task) {
      const PointGroup* group = graph.points(plan.tasks[task].node);
      if (!group || group->folds) continue;
      const Launch::Work work = group->launch->work;
      if (work != Launch::Work::task && work != Launch::Work::native) continue;
      if (before && before != group) fused.insert({before->first, group->first});
      before = group;
    }
  }
  return fused.size();
}

void FusedLaunches::add(const Executable& executable) {
  const std::shared_ptr<const Plan> plan = executable.plan();
  if (!plan || plan->graph->point_groups().empty()) return;
  Known& known = known_[plan.get()];
  if (known.plan.lock() != plan) known = {plan, fused_launches(*plan)};
  count_ += known.fused;
}

}  // namespace taskspec
