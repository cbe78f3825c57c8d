#include "interp/train/forward_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/build_graph.hpp"
#include "interp/control/capture.hpp"
#include "interp/control/op_lists.hpp"
#include "interp/control/record.hpp"

namespace taskspec {

namespace {

class ForwardMaker {
 public:
  ForwardMaker(const Interpreter& outer, const std::shared_ptr<Agent>& agent, FunctionId forward, const OpTable& ops,
               Span span)
      : program_(outer.program()),
        agent_(agent),
        function_(program_[forward]),
        forward_(forward),
        ops_(ops),
        span_(span),
        view_(ViewContents::all),
        target_(program_, view_),
        interpreter_(outer.nested(target_)) {
    target_.unroll();
    interpreter_.leave_host();
  }

  ForwardPlan make(const std::vector<Value>& arguments) {
    std::vector<Value> given;
    std::size_t k = 0;
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.role != Role::declared) continue;
      if (parameter.privilege == Privilege::inout)
        throw failure("E1009", span_, "training a task with inout parameters is not built yet");
      const Value& argument = k < arguments.size() ? arguments[k] : given.emplace_back();
      if (k++ < arguments.size())
        given.push_back(target_.is_tensor(argument) ? input(parameter.name, target_.type_of(argument)) : argument);
    }
    plan_.arguments = view_.graph.inputs().size();
    const Value copy = copy_of_agent();
    StepContext step{input("step", Type::tensor(Precision::i64, {})), agent_->path, 0};
    interpreter_.set_step(&step);
    CallResult result = interpreter_.call(forward_, copy, std::move(given), {span_});
    add_results(result);
    reverse();
    return std::move(plan_);
  }

 private:
  Value input(const std::string& name, const Type& type) {
    return view_.handle(Ref::input(view_.graph.add_input({name, type, Privilege::in})), type);
  }

  // With an input for each slot, and for those of the agents that it holds.
  Value copy_of_agent() {
    auto is_tensor = [&](const Value& value) { return target_.is_tensor(value); };
    auto replace = [&](const Value& value) { return input("slot", target_.type_of(value)); };
    auto meets = [](Agent&) {};
    Rebuilding copied(is_tensor, replace, meets);
    const Value copy = copied(Value(std::static_pointer_cast<Object>(agent_)));
    for (const auto& [agent, inside] : copied.agents()) add_slots(*agent, *inside.as<Agent>());
    return copy;
  }

  void add_slots(Agent& agent, Agent& copy) {
    const AgentDef& def = program_[agent.definition];
    for (std::size_t i = 0; i < copy.slots.size(); ++i) {
      auto* tensor = copy.slots[i].as<Tensor>();
      if (!tensor) continue;
      const std::string prefix = agent.path == agent_->path ? "" : agent.path.substr(agent_->path.size() + 1) + ".";
      ForwardPlan::SlotInput slot{&agent, i, prefix + def.slots[i].name, def.slots[i].kind};
      const std::size_t position = tensor->ref.id - plan_.arguments;
      if (plan_.slots.size() <= position) plan_.slots.resize(position + 1), copies_.resize(position + 1);
      copies_[position] = {&copy, i};
      copy.slots[i] = target_.place(agent.path + "." + def.slots[i].name, copy.slots[i]);
      plan_.slots[position] = std::move(slot);
    }
  }

  void add_result(const std::string& name, const Value& value) {
    auto* tensor = value.as<Tensor>();
    if (!tensor) throw failure("E1004", span_, "output '" + name + "' is not computed by the graph");
    view_.graph.add_result({name, tensor->type, tensor->ref});
  }

  void add_results(const CallResult& called) {
    auto* invocation = called.value.as<Invocation>();
    for (std::size_t i = 0; i < invocation->outputs.size(); ++i) {
      plan_.outputs.push_back(invocation->names[i]);
      add_result(invocation->names[i], invocation->outputs[i]);
    }
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const auto& [copy, slot] = copies_[i];
      auto* tensor = copy ? copy->slots[slot].as<Tensor>() : nullptr;
      const bool changed = tensor && !(tensor->ref.kind == Ref::Kind::input && tensor->ref.id == plan_.arguments + i);
      if (!changed) continue;
      plan_.versions.emplace_back(view_.graph.results().size(), i);
      add_result(plan_.slots[i].path, copy->slots[slot]);
    }
  }

  void reverse() {
    StepOptions options;
    options.wanted.resize(view_.graph.inputs().size());
    for (std::size_t i = 0; i < plan_.slots.size(); ++i)
      options.wanted[plan_.arguments + i] = plan_.slots[i].kind == SlotKind::weight;
    options.upstream.resize(view_.graph.results().size());
    options.upstream[0] = true;
    options.step = view_.graph.inputs().size() - 1;
    auto list = [&](NodeId node) { return op_list(interpreter_, view_.graph, node); };
    plan_.step = training_step(view_.graph, options, list, ops_).value_or_throw();
    refuse_ends();
    name_slots();
    find_writes();
    for (const auto* tasks : {&plan_.step.tasks, &plan_.step.reverses})
      for (const StepTask& task : *tasks)
        for (const StepRef& ref : task.in)
          if (ref.kind == StepRef::Kind::constant) plan_.constants[ref.id] = view_.graph.constant(ref.id);
  }

  // A weight that has no path to the loss but through ops without a gradient.
  void refuse_ends() const {
    if (plan_.step.ends.empty()) return;
    const TrainingStep::End& end = plan_.step.ends[0];
    Diag diag("E5013", Severity::error, end.span,
              fmt::format("'{}' has no gradient: {}", end.op->name, end.op->gradient.why_none));
    diag.note(fmt::format("every way from weight '{}' to the loss goes through it",
                          plan_.slots[end.input - plan_.arguments].path));
    throw Error(std::move(diag));
  }

  // Slots go by their paths, gradients by "d_" before them.
  void name_slots() {
    TrainingStep& step = plan_.step;
    std::vector<std::shared_ptr<OpList>> lists;
    for (auto* tasks : {&step.tasks, &step.reverses})
      for (StepTask& task : *tasks) {
        lists.push_back(std::make_shared<OpList>(*task.list));
        for (std::size_t k = 0; k < task.in.size(); ++k)
          if (const SlotKind* kind = slot_kind(task.in[k])) {
            lists.back()->inputs[k].name = plan_.slots[task.in[k].id - plan_.arguments].path;
            lists.back()->inputs[k].slot = *kind;
          }
        task.list = lists.back();
      }
    for (std::size_t i = 0; i < plan_.slots.size(); ++i)
      for (const StepRef& part : step.gradients[plan_.arguments + i])
        lists[part.id]->outputs[part.slot].name = "d_" + plan_.slots[i].path;
  }
  const SlotKind* slot_kind(const StepRef& ref) const {
    const bool is_slot =
        ref.kind == StepRef::Kind::input && ref.id >= plan_.arguments && ref.id < plan_.arguments + plan_.slots.size();
    return is_slot ? &plan_.slots[ref.id - plan_.arguments].kind : nullptr;
  }

  void find_writes() {
    TrainingStep& step = plan_.step;
    for (const StepTask& task : step.tasks) plan_.writes.emplace_back(task.list->outputs.size(), SIZE_MAX);
    for (const auto& [result, slot] : plan_.versions) {
      const StepRef& ref = step.results[result];
      if (ref.kind != StepRef::Kind::task) continue;
      StepTask& task = step.tasks[ref.id];
      const StepRef input{StepRef::Kind::input, static_cast<std::uint32_t>(plan_.arguments + slot), 0};
      auto read = std::ranges::find(task.in, input);
      if (read == task.in.end()) continue;  // written without being read there: a value like any other
      const auto position = static_cast<std::size_t>(read - task.in.begin());
      plan_.writes[ref.id][ref.slot] = position;
      auto named = std::make_shared<OpList>(*task.list);  // the plan sees by its name that it may stay in its bytes
      named->inputs[position].name = named->outputs[ref.slot].name = plan_.slots[slot].path;
      named->inputs[position].privilege = Privilege::inout;
      named->outputs[ref.slot].version = true;
      task.list = std::move(named);
    }
  }

  const Program& program_;
  const std::shared_ptr<Agent>& agent_;
  const Function& function_;
  const FunctionId forward_;
  const OpTable& ops_;
  const Span span_;
  GraphView view_;
  RecordTarget target_;
  Interpreter interpreter_;
  std::vector<std::pair<Agent*, std::size_t>> copies_;  // by slot input
  ForwardPlan plan_;
};

}  // namespace

ForwardPlan make_forward_plan(const Interpreter& outer, const std::shared_ptr<Agent>& agent, FunctionId forward,
                              const std::vector<Value>& arguments, const OpTable& ops, Span span) {
  return ForwardMaker(outer, agent, forward, ops, span).make(arguments);
}

}  // namespace taskspec
