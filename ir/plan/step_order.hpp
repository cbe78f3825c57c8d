// What can be said quickly about the order of a plan's steps under every parallel schedule. Answers are safe, not
// complete: "before" may be false for steps that are ordered along a long detour.
//
//   StepOrder order(plan);
//   order.before(a, b)          // a has certainly finished when b starts
//   order.meeting({a, b})       // the first step that certainly starts after all of them; none if there is none
#pragma once
#include <optional>

#include "ir/plan/plan.hpp"

namespace taskspec {

class StepOrder {
 public:
  explicit StepOrder(const Plan& plan);

  bool before(StepId a, StepId b) const;
  std::span<const std::uint32_t> predecessors(StepId step) const;
  // `steps` is not empty. The nearest step through which all ways on from each of them lead.
  std::optional<StepId> meeting(std::span<const std::uint32_t> steps) const;

 private:
  // A tree in which everybody's way up is a way back (or forward) in the plan that cannot be avoided.
  struct Joins {
    std::vector<std::uint32_t> parent, jump, depth;
    std::uint32_t common(std::uint32_t a, std::uint32_t b) const;
  };
  bool behind(std::uint32_t a, std::uint32_t b) const;  // a is b or an ancestor of it in the tree of last predecessors
  void make_predecessors(const Plan& plan);
  void number_tree();
  void find_joins(const Plan& plan);

  std::vector<std::uint32_t> starts_, predecessors_;  // CSR
  std::vector<std::uint32_t> enter_, leave_;          // of the tree of last predecessors, in preorder
  Joins joins_;                                       // immediate post-dominators; the root is the end of the run
};

}  // namespace taskspec
