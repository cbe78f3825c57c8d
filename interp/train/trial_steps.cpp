// Steps of a training that are tried out beside it: what they take is measured, and forgotten is what they compute.
#include <set>

#include "interp/control/record.hpp"
#include "interp/control/value_key.hpp"
#include "interp/train/rates.hpp"
#include "interp/train/training.hpp"

namespace taskspec {

namespace {

// Slots of the net that stand for their types while steps are tried out; afterwards they are what they were.
class LentSlots {
 public:
  LentSlots(ForwardPlan& plan, RecordTarget& outer, RecordTarget& trial) : plan_(plan) {
    for (const TensorSlot& slot : plan.slots) {
      before_.push_back(slot.value());
      const Type type = outer.type_of(slot.value());
      lent_.push_back(trial.place(slot.place(), trial.constant(made_up(concrete(type), before_.size()))));
    }
    for (std::size_t i = 0; i < lent_.size(); ++i) plan.slots[i].value() = std::move(lent_[i]);
  }
  ~LentSlots() {
    for (std::size_t i = 0; i < before_.size(); ++i) plan_.slots[i].value() = before_[i];
  }
  LentSlots(const LentSlots&) = delete;

 private:
  ForwardPlan& plan_;
  std::vector<Value> before_, lent_;
};

}  // namespace

StepMemory Training::try_steps(Interpreter& outer, Trial& trial, std::int64_t steps, FunctionRef<void()> after,
                               Span span) {
  if (plans_.empty() || !last_target_)
    throw failure("E5007", span, "what a step takes is measured on one like the last, and there was none");
  RecordTarget target(program_, trial.recorder());
  Interpreter interpreter = outer.nested(target);
  interpreter.leave_host();
  const LentSlots lent(plans_.begin()->second, dynamic_cast<RecordTarget&>(outer.target()), target);
  Training copy(*this);
  std::vector<Value> arguments;
  for (const auto& argument : last_arguments_) {
    auto* type = std::get_if<Type>(&argument);
    arguments.push_back(type ? target.constant(made_up(concrete(*type), arguments.size())) : std::get<Value>(argument));
  }
  const Value goal = target.constant(made_up(concrete(*last_target_), arguments.size()));
  const StepSite site{ScopeId(0), span};
  for (Weight& weight : copy.weights_) weight.gradient = {}, weight.moments.clear();
  copy.reset_metrics();
  for (std::int64_t step = 0; step < steps; ++step) {
    copy.call(interpreter, arguments, site.scope, span);
    copy.backward(interpreter, goal, site);
    copy.update(interpreter, site);
    trial.run();
    after();
  }
  trial.recorder().look(*copy.loss_.as<Tensor>(), span);  // raises what failed
  return copy.step_memory(copy.plan_for(interpreter, arguments, span));
}

StepMemory Training::step_memory(const ForwardPlan& plan) const {
  StepMemory memory;
  for (const Weight& weight : weights_) {
    const std::uint64_t bytes = concrete(weight.slot.value().as<Tensor>()->type).bytes();
    memory.slots += bytes;
    memory.moments += weight.moments.size() * bytes;
  }
  std::set<StepRef> kept;
  for (const StepTask& reverse : plan.step.reverses)
    for (const StepRef& ref : reverse.in)
      if (ref.kind == StepRef::Kind::task && ref.id < plan.step.tasks.size()) kept.insert(ref);
  for (const StepRef& ref : kept) {
    const StepTask& task = plan.step.tasks[ref.id];
    const bool is_slot = plan.writes[ref.id].size() > ref.slot && plan.writes[ref.id][ref.slot] != SIZE_MAX;
    if (is_slot) continue;
    const Type& type = task.list ? task.list->type(task.list->outputs[ref.slot].value) : task.embedded->types[ref.slot];
    memory.hidden += concrete(type).bytes();
  }
  return memory;
}

Value& Training::known_cost() {
  std::string key;
  for (const auto& argument : last_arguments_) {
    if (auto* type = std::get_if<Type>(&argument))
      key += type->text() + ';';
    else
      put_value(key, std::get<Value>(argument));
  }
  return costs_[key + (last_target_ ? last_target_->text() : "")];
}

}  // namespace taskspec
