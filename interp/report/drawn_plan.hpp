// What a page draws of a plan with launches. A launch is a group of its points: a few of them, and one box that stands
// for the rest. Turns of a loop that do the same come twice; a box for each of their tasks stands for the turns after
// those. So a plan of 60,000 points is a picture of some hundred boxes.
//
//   spread#0[0] spread#0[1] ... spread#0[7..12]    keep#0[0] ...    spread#2..99[0..12]    keep#2..99[0..12]
//
// A plan without such is drawn as it is.
#pragma once
#include <optional>

#include "ir/plan/plan.hpp"

namespace taskspec {

struct DrawnPlan {
  std::shared_ptr<TaskGraph> graph;
  Chains chains;
  Plan plan;                              // its steps; no buffers
  std::vector<std::uint32_t> nodes;       // by node of the plan: what it is drawn as
  std::vector<std::uint32_t> steps;       // by step of the plan
  std::vector<std::uint64_t> stands_for;  // by chain that is drawn: tasks in boxes for the rest; 0: it is itself
  std::vector<ChainId> chain_of;          // by chain that is drawn: of the plan, the one it is or the first of them
};

std::optional<DrawnPlan> drawn(const Plan& plan, const Chains& chains);

}  // namespace taskspec
