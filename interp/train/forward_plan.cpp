#include "interp/train/forward_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/build_graph.hpp"
#include "interp/control/capture.hpp"
#include "interp/control/op_lists.hpp"
#include "interp/control/record.hpp"
#include "ir/gradient/parts.hpp"

namespace taskspec {

namespace {

class ForwardMaker {
 public:
  ForwardMaker(const Interpreter& outer, const ForwardCall& call, const OpTable& ops)
      : program_(outer.program()),
        call_(call),
        function_(program_[call.forward]),
        ops_(ops),
        view_(std::make_shared<GraphView>(ViewContents::all)),
        target_(program_, *view_),
        interpreter_(outer.nested(target_)) {
    target_.unroll();
    interpreter_.leave_host();
  }

  ForwardPlan make() {
    const std::vector<Value>& arguments = call_.arguments;
    std::vector<Value> given;
    std::size_t k = 0;
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.role != Role::declared) continue;
      if (parameter.privilege == Privilege::inout)
        throw failure("E1009", call_.span, "training a task with inout parameters is not built yet");
      const Value& argument = k < arguments.size() ? arguments[k] : given.emplace_back();
      if (k++ < arguments.size())
        given.push_back(target_.is_tensor(argument) ? input(parameter.name, target_.type_of(argument)) : argument);
    }
    plan_.arguments = graph().inputs().size();
    const Value copy = copy_of_agent();
    StepContext step{input("step", Type::tensor(Precision::i64, {})), call_.agent->path, 0};
    interpreter_.set_step(&step);
    CallResult result = interpreter_.call(call_.forward, copy, std::move(given), {call_.span});
    add_results(result);
    reverse();
    return std::move(plan_);
  }

 private:
  TaskGraph& graph() { return view_->graph; }
  Value input(const std::string& name, const Type& type) {
    return view_->handle(Ref::input(graph().add_input({name, type, Privilege::in})), type);
  }

  // With an input for each slot, and for those of the agents that it holds.
  Value copy_of_agent() {
    auto is_tensor = [&](const Value& value) { return target_.is_tensor(value); };
    auto replace = [&](const Value& value) { return input("slot", target_.type_of(value)); };
    auto meets = [](Agent&) {};
    Rebuilding copied(is_tensor, replace, meets);
    const Value copy = copied(Value(std::static_pointer_cast<Object>(call_.agent)));
    for (const auto& [agent, inside] : copied.agents()) add_slots(*agent, *inside.as<Agent>());
    return copy;
  }

  void add_slots(Agent& agent, Agent& copy) {
    const AgentDef& def = program_[agent.definition];
    for (std::size_t i = 0; i < copy.slots.size(); ++i) {
      auto* tensor = copy.slots[i].as<Tensor>();
      if (!tensor) continue;
      const std::string& root = call_.agent->path;
      const std::string prefix = agent.path == root ? "" : agent.path.substr(root.size() + 1) + ".";
      const std::size_t position = tensor->ref.id - plan_.arguments;
      if (plan_.slots.size() <= position) plan_.slots.resize(position + 1), copies_.resize(position + 1);
      copies_[position] = {&copy, i};
      copy.slots[i] = target_.place(agent.path + "." + def.slots[i].name, copy.slots[i]);
      plan_.slots[position] = {prefix + def.slots[i].name, &agent, i};
    }
  }

  void add_result(const std::string& name, const Value& value) {
    auto* tensor = value.as<Tensor>();
    if (!tensor) throw failure("E1004", call_.span, "output '" + name + "' is not computed by the graph");
    graph().add_result({name, tensor->type, tensor->ref});
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
      plan_.versions.emplace_back(graph().results().size(), i);
      add_result(plan_.slots[i].path, copy->slots[slot]);
    }
  }

  void reverse() {
    StepOptions options{.wanted = {}, .upstream = {}, .recompute = call_.recompute};
    options.wanted.resize(graph().inputs().size());
    for (std::size_t i = 0; i < plan_.slots.size(); ++i)
      options.wanted[plan_.arguments + i] = plan_.slots[i].kind() == SlotKind::weight;
    options.upstream.resize(graph().results().size());
    options.upstream[0] = true;
    options.step = graph().inputs().size() - 1;
    auto list = [&](NodeId node) -> Result<OpList> {
      if (graph().definition(node).structured())
        return failure("E3005", graph()[node].span, "control that tensors decide about").diags();
      return op_list(interpreter_, graph(), node);
    };
    const std::shared_ptr<const TaskGraph> shared(view_, &view_->graph);
    plan_.step = training_step(shared, options, list, ops_).value_or_throw();
    cut_batch();
    refuse_ends();
    name_slots();
    find_writes();
    for (const auto* tasks : {&plan_.step.tasks, &plan_.step.reverses})
      for (const StepTask& task : *tasks)
        for (const StepRef& ref : task.in)
          if (ref.kind == StepRef::Kind::constant) plan_.constants[ref.id] = graph().constant(ref.id);
  }

  // The batch has as many rows as the first argument; those of others that have as many are cut with it.
  void cut_batch() {
    std::vector<std::optional<std::int64_t>> rows;
    for (std::size_t i = 0; i < plan_.arguments; ++i) {
      const Type& type = graph().inputs()[i].type;
      rows.push_back(type.rank() > 0 ? type.dims[0].constant() : std::nullopt);
    }
    if (rows.empty() || !rows[0]) return;
    plan_.batch = BatchParts::of(*rows[0], call_.parts);
    if (!plan_.batch.is_cut()) return;
    PartsOptions options{plan_.batch, {}, {}, {true}, {}};
    for (const std::optional<std::int64_t>& own : rows) options.cut.push_back(own == rows[0]);
    TrainingStep cut = in_parts(plan_.step, options, ops_);
    if (cut.result_parts[0].empty()) {  // the prediction is made as a whole, so is its gradient
      options.upstream_in_parts = {};
      cut = in_parts(plan_.step, options, ops_);
    }
    plan_.step = std::move(cut);
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
    std::map<std::shared_ptr<const OpList>, std::shared_ptr<OpList>> named;  // parts have one in common
    for (auto* tasks : {&step.tasks, &step.reverses})
      for (StepTask& task : *tasks) {
        if (task.embedded) {
          lists.emplace_back();
          continue;
        }
        std::shared_ptr<OpList>& copy = named[task.list];
        if (!copy) copy = std::make_shared<OpList>(*task.list);
        lists.push_back(copy);
        for (std::size_t k = 0; k < task.in.size(); ++k)
          if (const std::optional<SlotKind> kind = slot_kind(task.in[k])) {
            lists.back()->inputs[k].name = plan_.slots[task.in[k].id - plan_.arguments].path;
            lists.back()->inputs[k].slot = *kind;
          }
        task.list = lists.back();
      }
    for (std::size_t i = 0; i < plan_.slots.size(); ++i)
      for (const StepRef& part : plan_.gradients(i))
        if (lists[part.id]) lists[part.id]->outputs[part.slot].name = "d_" + plan_.slots[i].path;
  }
  std::optional<SlotKind> slot_kind(const StepRef& ref) const {
    const bool is_slot =
        ref.kind == StepRef::Kind::input && ref.id >= plan_.arguments && ref.id < plan_.arguments + plan_.slots.size();
    return is_slot ? std::optional(plan_.slots[ref.id - plan_.arguments].kind()) : std::nullopt;
  }

  void find_writes() {
    TrainingStep& step = plan_.step;
    for (const StepTask& task : step.tasks)
      plan_.writes.emplace_back(task.list ? task.list->outputs.size() : task.embedded->outputs.size(), SIZE_MAX);
    for (const auto& [result, slot] : plan_.versions) {
      const StepRef& ref = step.results[result];
      if (ref.kind != StepRef::Kind::task) continue;
      StepTask& task = step.tasks[ref.id];
      if (task.embedded) continue;  // gives it as a value like any other
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
  const ForwardCall& call_;
  const Function& function_;
  const OpTable& ops_;
  const std::shared_ptr<GraphView> view_;  // a step with embedded tasks keeps it
  RecordTarget target_;
  Interpreter interpreter_;
  std::vector<std::pair<Agent*, std::size_t>> copies_;  // by slot input
  ForwardPlan plan_;
};

}  // namespace

ForwardPlan make_forward_plan(const Interpreter& outer, const ForwardCall& call, const OpTable& ops) {
  return ForwardMaker(outer, call, ops).make();
}

}  // namespace taskspec
