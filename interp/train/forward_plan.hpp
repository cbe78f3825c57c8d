// A call of the trained task or graph of an agent, made ready for training for the types of its arguments: recorded
// once where nobody runs it, each chain made one task that leaves what its reverse needs (ir/gradient/step.hpp).
#pragma once
#include <map>

#include "interp/control/interpreter.hpp"
#include "ir/gradient/step.hpp"

namespace taskspec {

struct ForwardPlan {
  struct SlotInput {
    Agent* agent = nullptr;
    std::size_t slot = 0;
    std::string path;  // "w", "c1.w", "blocks[2].w"
    SlotKind kind = SlotKind::state;
    Value& value() const { return agent->slots[slot]; }
  };
  TrainingStep step;
  // Inputs of the graph of the step: tensors among the arguments, slots, the number of the step.
  std::size_t arguments = 0;
  std::vector<SlotInput> slots;
  std::vector<std::string> outputs;                           // the first results, by name
  std::vector<std::pair<std::size_t, std::size_t>> versions;  // result -> the slot that it is the next version of
  std::map<std::uint32_t, Value> constants;                   // that tasks of the step read, by id
  // By task of the step, by output: the input of the task whose place it writes; SIZE_MAX: none.
  std::vector<std::vector<std::size_t>> writes;
};

// Throws Error: what is wrong with the bodies, what has no gradient (E5013).
ForwardPlan make_forward_plan(const Interpreter& outer, const std::shared_ptr<Agent>& agent, FunctionId forward,
                              const std::vector<Value>& arguments, const OpTable& ops, Span span);

}  // namespace taskspec
