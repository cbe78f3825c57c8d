// A call of the trained task or graph of an agent, made ready for training for the types of its arguments: recorded
// once where nobody runs it, each chain made one task that leaves what its reverse needs
// (ir/gradient/training_step.hpp).
#pragma once
#include <map>

#include "interp/control/checkpoint.hpp"
#include "interp/control/interpreter.hpp"
#include "ir/gradient/batch_parts.hpp"
#include "ir/gradient/training_step.hpp"

namespace taskspec {

struct ForwardPlan {
  TrainingStep step;
  // Inputs of the graph of the step: tensors among the arguments, slots, the number of the step.
  std::size_t arguments = 0;
  std::vector<TensorSlot> slots;
  std::vector<std::string> outputs;                           // the first results, by name
  std::vector<std::pair<std::size_t, std::size_t>> versions;  // result -> the slot that it is the next version of
  std::map<std::uint32_t, Value> constants;                   // that tasks of the step read, by id
  // By task of the step, by output: the input of the task whose place it writes; SIZE_MAX: none.
  std::vector<std::vector<std::size_t>> writes;
  BatchParts batch;  // cut or not
  // Parts of the gradient of a slot, to be added in this order.
  const std::vector<StepRef>& gradients(std::size_t slot) const { return step.gradients[arguments + slot]; }
};

struct ForwardCall {
  const std::shared_ptr<Agent>& agent;
  FunctionId forward;
  const std::vector<Value>& arguments;
  Recompute recompute = Recompute::none;
  std::int64_t parts = 1;  // of the batch
  Span span;
};

// Throws Error: what is wrong with the bodies, what has no gradient (E5013).
ForwardPlan make_forward_plan(const Interpreter& outer, const ForwardCall& call, const OpTable& ops);

}  // namespace taskspec
