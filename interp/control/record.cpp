#include "interp/control/record.hpp"

#include <algorithm>

#include "interp/control/capture.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/op_lists.hpp"
#include "interp/control/rules.hpp"
#include "ir/graph/embedded_task.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

RecordTarget::RecordTarget(const Program& program, Recorder& recorder) : program_(program), recorder_(recorder) {}

bool RecordTarget::is_tensor(const Value& value) const { return value.is_array() || value.as<Tensor>(); }

Type RecordTarget::type_of(const Value& value) const {
  return value.is_array() ? value.array().type().type() : value.as<Tensor>()->type;
}

std::shared_ptr<Tensor> RecordTarget::constant_of(const Value& contents, const Type& type) {
  return recorder_.tensor(Ref::constant(recorder_.graph.add_constant(type, contents)), type);
}

// A handle of this recorder: contents from elsewhere (files, another session) become constants.
std::shared_ptr<Tensor> RecordTarget::own(const Value& value, Span span) {
  if (auto* tensor = value.as<Tensor>()) {
    if (tensor->is_of(recorder_)) return std::static_pointer_cast<Tensor>(value.object());
    return constant_of(recorder_.from_elsewhere(*tensor, span), tensor->type);
  }
  return constant_of(value, value.array().type().type());
}

// A number of the text would be another constant in every turn of a loop. Where nobody looks at the graph later, it is
// one. One that varies is a constant each time, also where two are equal by chance: so that the batches of a loop stay
// alike.
void RecordTarget::add_number(Number& known, const Value& value, FunctionRef<Array()> made, Inputs& inputs, Span span) {
  const bool fresh = known.handle.is_none();
  if (!fresh && !identical(known.written, value)) known = {{}, {}, true};
  if (!fresh && !known.varies) return add_input(inputs, *known.handle.as<Tensor>());
  const Array array = made();
  if (!recorder_.forgets() || known.varies) return add_input(inputs, Value(array), span);
  known = {value, constant(array)};
  add_input(inputs, *known.handle.as<Tensor>());
}

std::size_t RecordTarget::kept_handles() const {
  std::size_t kept = 0;
  auto add = [&](const std::vector<Number>& numbers) {
    kept +=
        static_cast<std::size_t>(std::ranges::count_if(numbers, [](const Number& n) { return !n.handle.is_none(); }));
  };
  for (const auto& [call, site] : sites_) add(site.numbers);
  for (const auto& [task, known] : tasks_) add(known.numbers);
  return kept;
}

void RecordTarget::add_input(Inputs& inputs, const Value& value, Span span) {
  inputs.alive.push_back(own(value, span));
  add_input(inputs, *inputs.alive.back());
}

void RecordTarget::add_input(Inputs& inputs, const Tensor& tensor) {
  if (tensor.place.valid() && recorder_.graph.current(tensor.place) == tensor.ref)
    inputs.requirements.push_back({tensor.place, Privilege::in, static_cast<std::uint16_t>(inputs.refs.size())});
  inputs.refs.push_back(tensor.ref);
}

// What a slot begins with is computed before anything else runs, if it depends on no other tasks: neither on their
// values nor, by a place, on their order.
NodeId RecordTarget::add(DefinitionId definition, TaskGraph::NewNode&& node, const Inputs& inputs) {
  node.first_value = slots_ > 0 && inputs.requirements.empty() && std::ranges::all_of(node.in, [this](Ref ref) {
                       return !ref.is_future() || recorder_.graph[ref.node()].first_value;
                     });
  return recorder_.graph.add(definition, node, inputs.requirements, [&](NodeId id) {
    recorder_.links.make_room(id);
    recorder_.added(id, inputs.requirements);
    recorder_.links.add(recorder_.graph, id);
  });
}

namespace {

bool may_take_long(const Function& task) {
  return !task.extern_symbol.empty() || std::ranges::any_of(task.calls, [](const Call& call) {
    return call.form->repeats() || call.form->enters != FormRecord::Enters::nothing;
  });
}

}  // namespace

RecordTarget::Task& RecordTarget::define(Interpreter& interpreter, const TaskCall& call) {
  if (auto known = tasks_.find(call.function.value); known != tasks_.end()) return known->second;
  Task task;
  const Function& function = program_[call.function];
  // A graph that is only looked at shows what it was given.
  if (recorder_.executes())
    task.at_run = numbers_at_run(interpreter, call, [this](const Value& value) { return type_of(value); });
  task.at_run.resize(function.parameters.size());
  task.numbers.resize(function.parameters.size());
  Definition definition;
  definition.kind = Definition::Kind::task;
  definition.name = program_.display_name(call.function);
  definition.function = call.function;
  for (std::size_t k = 0; k < function.parameters.size(); ++k)
    if (function.parameters[k].type.is_tensor() || task.at_run[k])
      definition.inputs.push_back(function.parameters[k].name);
  for (const Output& output : function.outputs) definition.outputs.push_back(output.name);
  for (const Parameter& parameter : function.parameters)
    if (parameter.privilege == Privilege::inout) definition.outputs.push_back(parameter.name);
  task.definition = recorder_.graph.define(std::move(definition));
  if (may_take_long(function)) recorder_.repeats(task.definition);
  return tasks_.emplace(call.function.value, std::move(task)).first->second;
}

PlaceId RecordTarget::place_of(const Value& value) const {
  auto* tensor = value.as<Tensor>();
  return tensor && tensor->is_of(recorder_) ? tensor->place : PlaceId();
}

Value RecordTarget::version(NodeId node, std::size_t slot, PlaceId place) {
  const TypeId type = recorder_.graph.out(node)[slot];
  std::shared_ptr<Tensor> tensor = recorder_.tensor(Ref::future(node, slot), recorder_.shared_type(type));
  tensor->place = place;
  return Value(std::static_pointer_cast<Object>(std::move(tensor)));
}

// An agent made in another session, or outside the graph that is looked at, gets an instance of its own here.
InstanceId RecordTarget::instance_of(Agent* agent) {
  if (!agent) return {};
  if (agent->home == home_) {
    if (!recorder_.graph.agents().contains(agent->instance.index())) agent->instance = new_instance(*agent);
    return agent->instance;
  }
  auto [known, fresh] = foreign_agents_.try_emplace({agent->home, agent->instance.value});
  if (fresh || !recorder_.graph.agents().contains(known->second.index())) known->second = new_instance(*agent);
  return known->second;
}

// Of an agent that has its slots.
InstanceId RecordTarget::new_instance(const Agent& agent) {
  const InstanceId id = instance(agent);
  note_layers(agent, id);
  return id;
}

void RecordTarget::note_layers(const Agent& agent, InstanceId instance) {
  const AgentDef& def = program_[agent.definition];
  for (std::size_t i = 0; i < agent.slots.size() && i < def.slots.size(); ++i)
    if (def.slots[i].kind == SlotKind::layer)
      each_agent(agent.slots[i], [&](Agent& inner) {
        if (inner.path.starts_with(agent.path + "."))
          recorder_.graph.add_layer(instance, inner.path.substr(agent.path.size() + 1), instance_of(&inner));
      });
}

void RecordTarget::receive_globals(Interpreter& interpreter, std::span<const GlobalUse> uses,
                                   std::span<const Value> values, Span span) {
  if (!recorder_.executes()) return;
  interpreter.receive_globals(uses, span);
  for (const Value& value : values)
    each_function(value, [&](FunctionId inside) { interpreter.receive_globals(inside, span); });
}

TaskResult RecordTarget::task(Interpreter& interpreter, const TaskCall& call) {
  const Function& function = program_[call.function];
  recorder_.adding(call.span);
  receive_globals(interpreter, interpreter.facts().globals(call.function), call.arguments, call.span);
  Task& task = define(interpreter, call);
  Inputs inputs;
  std::vector<Value> arguments(function.parameters.size());
  std::vector<TypeId> out;
  for (const Output& output : function.outputs) {
    Type type = evaluate(output.type, *call.bound);
    refuse_negative_extents(type, "output '" + output.name + "'", call.span);
    out.push_back(recorder_.graph.intern(type));
  }
  std::vector<std::pair<std::uint32_t, PlaceId>> written;
  for (std::uint32_t k = 0; k < function.parameters.size(); ++k) {
    const Parameter& parameter = function.parameters[k];
    if (!is_tensor(call.arguments[k])) {
      if (task.at_run[k])
        add_number(
            task.numbers[k], call.arguments[k],
            [&] { return scalar_array(call.arguments[k], run_precision(parameter.type)); }, inputs, call.span);
      else
        arguments[k] = call.arguments[k];
      continue;
    }
    Value tensor = call.arguments[k];
    bool writes = parameter.privilege == Privilege::inout;
    if (writes && !own(tensor, call.span)->place.valid()) tensor = place(parameter.name, tensor);
    auto slot_in = static_cast<std::uint16_t>(inputs.refs.size());
    add_input(inputs, tensor, call.span);
    if (!writes) continue;
    PlaceId place = tensor.as<Tensor>()->place;
    auto slot_out = static_cast<std::uint16_t>(out.size());
    out.push_back(recorder_.graph.intern(type_of(tensor)));
    if (!inputs.requirements.empty() && inputs.requirements.back().slot_in == slot_in) inputs.requirements.pop_back();
    inputs.requirements.push_back({place, Privilege::inout, slot_in, slot_out});
    written.emplace_back(k, place);
  }
  NodeId node = add(task.definition,
                    {.in = inputs.refs,
                     .out = out,
                     .scope = call.scope,
                     .agent = instance_of(call.agent),
                     .arguments = std::move(arguments),
                     .span = call.span},
                    inputs);
  TaskResult result;
  auto invocation = std::make_shared<Invocation>();
  if (function.outputs.empty()) invocation->label = recorder_.graph.path(node);
  std::size_t slot = 0;
  for (const Output& output : function.outputs) {
    invocation->names.push_back(output.name);
    invocation->outputs.push_back(recorder_.handle(Ref::future(node, slot), recorder_.shared_type(out[slot])));
    ++slot;
  }
  for (auto& [parameter, place] : written) result.versions.emplace_back(parameter, version(node, slot++, place));
  result.invocation = Value(std::static_pointer_cast<Object>(invocation));
  return result;
}

void RecordTarget::define_listed(Definition& definition, std::shared_ptr<const OpList> list, std::vector<TypeId>& out) {
  definition.kind = Definition::Kind::listed;
  for (const OpList::Input& input : list->inputs) definition.inputs.push_back(input.name);
  for (const OpList::Output& output : list->outputs) {
    definition.outputs.push_back(output.name);
    out.push_back(recorder_.graph.intern(list->type(output.value)));
  }
  definition.list = std::move(list);
}

void RecordTarget::define_embedded(Definition& definition, std::shared_ptr<const EmbeddedTask> embedded,
                                   std::vector<TypeId>& out) {
  definition.kind = Definition::Kind::embedded;
  definition.inputs = embedded->inputs;
  definition.outputs = embedded->outputs;
  for (const Type& type : embedded->types) out.push_back(recorder_.graph.intern(type));
  definition.embedded = std::move(embedded);
}

RecordTarget::ListedNode RecordTarget::listed(Listed given) {
  if (given.begins) recorder_.adding(given.span);
  Definition definition;
  definition.name = std::move(given.name);
  definition.suffix = std::move(given.suffix);
  std::vector<TypeId> out;
  if (given.list)
    define_listed(definition, given.list, out);
  else
    define_embedded(definition, given.embedded, out);
  definition.pass = pass_;
  Inputs inputs;
  for (std::size_t k = 0; k < given.inputs.size(); ++k) {
    Value& tensor = given.inputs[k];
    const auto written = std::ranges::find(given.writes, k);
    if (written != given.writes.end() && !own(tensor, given.span)->place.valid())
      tensor = place(definition.inputs[k], tensor);
    add_input(inputs, tensor, given.span);
    if (written == given.writes.end()) continue;
    const auto slot = static_cast<std::size_t>(written - given.writes.begin());
    const PlaceId place = tensor.as<Tensor>()->place;
    if (inputs.requirements.empty() || inputs.requirements.back().slot_in != k)
      throw failure("E1403", given.span, "'" + definition.inputs[k] + "' is an old version of its place");
    write_place(inputs, place, slot);
  }
  const NodeId node =
      add(recorder_.graph.define(std::move(definition)),
          {.in = inputs.refs, .out = out, .scope = given.scope, .span = given.span, .ordinal = given.ordinal}, inputs);
  ListedNode made{{}, recorder_.graph[node].ordinal};
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    const std::size_t input = slot < given.writes.size() ? given.writes[slot] : Listed::none;
    made.outputs.push_back(input == Listed::none
                               ? recorder_.handle(Ref::future(node, slot), recorder_.shared_type(out[slot]))
                               : version(node, slot, given.inputs[input].as<Tensor>()->place));
  }
  return made;
}

Value RecordTarget::place(const std::string& name, const Value& initial) {
  std::shared_ptr<Tensor> from = own(initial, {});
  std::shared_ptr<Tensor> tensor = recorder_.tensor(from->ref, from->shared_type);
  tensor->place = recorder_.graph.add_place(name, from->ref);
  return Value(std::static_pointer_cast<Object>(tensor));
}

Array RecordTarget::receive(const Value& value, Span span) {
  if (value.is_array()) return value.array();
  auto* tensor = value.as<Tensor>();
  Recorder& asked = recorder_.executes() ? tensor->recorder() : recorder_;
  if (divider_ && &asked == &recorder_) divider_->receiving(*tensor, span);
  return asked.receive(*tensor, span);
}

Value RecordTarget::constant(Array array) {
  Type type = array.type().type();
  return recorder_.handle(Ref::constant(recorder_.graph.add_constant(type, Value(std::move(array)))), type);
}

bool RecordTarget::decide(const Value& value, Span span) {
  if (value.as<GraphScalar>())
    throw failure("E1009", span, "looking at a graph whose form depends on a host input is not built yet");
  return receive(value, span).integer(0) != 0;
}

ScopeId RecordTarget::open_scope(ScopeId outer, std::string_view callee, FunctionId function, Span) {
  ScopeId scope = recorder_.graph.open_scope(outer, callee, function);
  recorder_.opened(scope);
  return scope;
}

std::string RecordTarget::scope_path(ScopeId scope) const { return taskspec::scope_path(recorder_.graph, scope); }

Value RecordTarget::renamed(const Value& value, ScopeId scope, const std::string& output, bool structured) {
  if (!value.as<Tensor>()) return value;
  std::shared_ptr<Tensor> tensor = own(value, {});
  if (!tensor->ref.is_future()) return Value(std::static_pointer_cast<Object>(tensor));
  std::shared_ptr<Tensor> result = recorder_.tensor(tensor->ref, tensor->shared_type);
  result->place = tensor->place;
  result->alias = Tensor::Alias{scope, output};
  result->structured = structured || tensor->structured;
  return Value(std::static_pointer_cast<Object>(result));
}

InstanceId RecordTarget::instance(const Agent& agent) {
  return recorder_.graph.add_agent({agent.definition, agent.path, agent.arguments, {}});
}

// An instance that no task has named yet may have been given back while the slots were made: who needs one makes it.
void RecordTarget::layers(const Agent& agent) {
  if (recorder_.graph.agents().contains(agent.instance.index())) note_layers(agent, agent.instance);
}

}  // namespace taskspec
