// A time step of a graph with triggers or switches, by counting tokens: each output cluster has a value in this step or
// has none; a block runs when a value has come for each of its inputs, or for those that it wants (BlockControl), and
// one that waits when nothing more can come is an error. What a trigger does not let run gives what it made last.
#pragma once
#include "interp/exact/plan.hpp"

namespace taskspec {

class ControlledStep {
 public:
  ControlledStep(ExactPlan& plan, std::int64_t step) : plan_(plan), step_(step) {
    for (ExactTrigger& trigger : plan.triggers) trigger.asked = false;
  }
  bool may_run(ExactBlock& block);
  void has_run(const ExactBlock& block);
  void finish();  // throws: E4031 who waits for ever, E4032 what is left over, E4033 tokens that make no sense

 private:
  bool is_let_run(const ExactBlock& block);
  bool fires(ExactTrigger& trigger);
  void count_arrived(ExactBlock& block);
  bool choose(ExactBlock& block);
  bool has_arrived(const ExactFeed& feed) const;
  void waits_for_ever(const ExactBlock& block);
  // Names of its clusters: what came of itself and is wanted, or is not.
  std::vector<std::string> names(const ExactBlock& block, bool arrived, bool wanted) const;
  bool comes_by_itself(const ExactBlock& block, std::size_t cluster) const;

  ExactPlan& plan_;
  std::int64_t step_;
  Diags faults_;
};

}  // namespace taskspec
