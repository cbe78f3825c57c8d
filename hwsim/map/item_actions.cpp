// The actions on how items flow through a mapping: batches of rows, rooms of receive buffers, step groups, mode A2S2.
#include <algorithm>

#include "hwsim/map/mapping.hpp"

namespace taskspec {

ChipMapping::Done ChipMapping::set_depth(std::int64_t depth) {
  MapDecisions next = decisions();
  next.depth = clamped(depth);
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::set_step_groups(std::int64_t count) {
  MapDecisions next = decisions();
  next.step_groups = clamped(count);
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::set_fetches_ahead(bool fetches_ahead) {
  MapDecisions next = decisions();
  next.fetches_ahead = fetches_ahead;
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::set_slabs(std::int64_t slabs) {
  Diags why;
  if (std::optional<std::string> fault = slabs_fault(slabs, units().input_rows)) {
    why.error("E4049", {}, *std::move(fault));
    return why;
  }
  if (slabs == decisions().slabs) return estimate();
  // What streams does so in other batches, on the same cores.
  const bool has_streams = std::ranges::any_of(decisions().units, &MapUnit::streams);
  if (has_streams && slabs > 1) {
    MapDecisions next = decisions();
    next.slabs = slabs;
    Done done = act(std::move(next));
    if (done) return done;
    why = done.diags();
  }
  // From rows to whole maps and back, and where memory does not suffice: as the mapper has it.
  MapOptions options = options_;
  options.slabs = slabs;
  options.depth = decisions().depth;
  options.step_groups = decisions().step_groups;
  options.fetches_ahead = decisions().fetches_ahead;
  const Result<ChipPlan> plan = plan_net(net(), options);
  if (!plan) return why.has_errors() ? why : plan.diags();
  return act(decisions_of(net(), *plan));
}

}  // namespace taskspec
