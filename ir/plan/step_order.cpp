#include "ir/plan/step_order.hpp"

#include <algorithm>

namespace taskspec {

StepOrder::StepOrder(const Plan& plan) {
  make_predecessors(plan);
  number_tree();
  find_joins(plan);
}

void StepOrder::make_predecessors(const Plan& plan) {
  std::size_t steps = plan.steps();
  starts_.assign(steps + 1, 0);
  for (std::size_t s = 0; s < steps; ++s) starts_[s + 1] = starts_[s] + plan.predecessors[s];
  predecessors_.resize(starts_.back());
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (std::uint32_t s = 0; s < steps; ++s)  // ascending, so that every list is sorted
    for (std::uint32_t k = plan.successor_starts[s]; k < plan.successor_starts[s + 1]; ++k)
      predecessors_[next[plan.successors[k]]++] = s;
}

std::span<const std::uint32_t> StepOrder::predecessors(StepId step) const {
  return std::span(predecessors_).subspan(starts_[step.index()], starts_[step.index() + 1] - starts_[step.index()]);
}

// Every step hangs below the last of its predecessors: along a network that is its main path.
void StepOrder::number_tree() {
  std::size_t steps = starts_.size() - 1;
  auto parent = [&](std::size_t s) { return predecessors_[starts_[s + 1] - 1]; };
  auto is_root = [&](std::size_t s) { return starts_[s] == starts_[s + 1]; };
  std::vector<std::uint32_t> size(steps, 1);
  for (std::size_t s = steps; s-- > 0;)
    if (!is_root(s)) size[parent(s)] += size[s];
  enter_.resize(steps);
  leave_.resize(steps);
  std::vector<std::uint32_t> next(steps);  // where the next child of a step begins
  std::uint32_t next_root = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    std::uint32_t& place = is_root(s) ? next_root : next[parent(s)];
    enter_[s] = place;
    next[s] = place + 1;
    leave_[s] = place += size[s];
  }
}

bool StepOrder::behind(std::uint32_t a, std::uint32_t b) const {
  return enter_[a] <= enter_[b] && enter_[b] < leave_[a];
}

bool StepOrder::before(StepId a, StepId b) const {
  if (a == b) return false;
  if (behind(a.value, b.value)) return true;
  std::span<const std::uint32_t> direct = predecessors(b);
  if (std::binary_search(direct.begin(), direct.end(), a.value)) return true;
  constexpr std::size_t few = 16;  // bounds the work; joins of more are rare
  if (direct.size() > few) direct = direct.last(few);
  return std::any_of(direct.begin(), direct.end(), [&](std::uint32_t p) { return behind(a.value, p); });
}

// The immediate post-dominator of a step is what its successors have in common. Boost's dominator tree would do, were
// its path compression not recursive: a plan may be a line of a million steps. The tree is needed for `meeting` anyway.
void StepOrder::find_joins(const Plan& plan) {
  auto end = static_cast<std::uint32_t>(plan.steps());
  joins_.parent.assign(end + 1, end);
  joins_.jump.assign(end + 1, end);
  joins_.depth.assign(end + 1, 0);
  for (std::uint32_t s = end; s-- > 0;) {
    std::uint32_t join = end;
    for (std::uint32_t k = plan.successor_starts[s]; k < plan.successor_starts[s + 1]; ++k) {
      std::uint32_t next = plan.successors[k];
      join = k == plan.successor_starts[s] ? next : joins_.common(join, next);
    }
    joins_.parent[s] = join;
    joins_.depth[s] = joins_.depth[join] + 1;
    // A jump goes as far as two jumps of the parent when these are equally long: every way up takes O(log) of them.
    std::uint32_t far = joins_.jump[join];
    bool even = joins_.depth[join] - joins_.depth[far] == joins_.depth[far] - joins_.depth[joins_.jump[far]];
    joins_.jump[s] = even ? joins_.jump[far] : join;
  }
}

std::uint32_t StepOrder::Joins::common(std::uint32_t a, std::uint32_t b) const {
  if (depth[a] < depth[b]) std::swap(a, b);
  while (depth[a] > depth[b]) a = depth[jump[a]] >= depth[b] ? jump[a] : parent[a];
  while (a != b) {
    bool apart = jump[a] != jump[b];
    a = apart ? jump[a] : parent[a];
    b = apart ? jump[b] : parent[b];
  }
  return a;
}

std::optional<StepId> StepOrder::meeting(std::span<const std::uint32_t> steps) const {
  std::uint32_t join = steps.front();
  for (std::uint32_t step : steps.subspan(1)) join = joins_.common(join, step);
  if (join + 1 == joins_.parent.size()) return std::nullopt;
  return StepId(join);
}

}  // namespace taskspec
