// Control flow and fn calls inside a graph: one structured node each. It counts as one task, never chains,
// and its body runs on the backend without the host.
#include <algorithm>
#include <map>
#include <set>

#include "interp/control/capture.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/record.hpp"
#include "interp/control/rules.hpp"
#include "interp/control/shared_slots.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

namespace {

bool depends_on_graph(const Value& value) {
  if (value.is_array() || value.as<Tensor>() || value.as<GraphScalar>()) return true;
  const List* items = value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
  if (auto* invocation = value.as<Invocation>()) items = &invocation->outputs;
  if (auto* callable = value.as<Callable>()) items = &callable->captures;
  if (auto* composed = value.as<ComposedTask>())
    return depends_on_graph(composed->first) || depends_on_graph(composed->second);
  if (items)
    for (const Value& item : *items)
      if (depends_on_graph(item)) return true;
  return false;
}

}  // namespace

// What becomes of regions the session knows, and no node inside of itself: such control is carried out while the graph
// is recorded, and a tensor that decides is received there.
bool RecordTarget::structured(Interpreter& interpreter, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  const bool data = call.form == Form::call ? interpreter.facts().uses_data(call.callee)
                                            : interpreter.facts().free_use(frame.id, id).data;
  if (data) return false;
  if ((unrolls_ || (keeps_agents_ && makes_agents(frame, id))) && !tensors_decide(interpreter, frame, id)) return false;
  if (keeps_agents_ && makes_agents(frame, id))
    throw failure("E1009", frame.function[id].span,
                  "an agent that is made where a tensor decides what runs, in time steps, is not built yet");
  return frame.function[id].form == Form::call ? structured_call(interpreter, frame, id)
                                               : structured_block(interpreter, frame, id);
}

// It, or what it calls.
bool RecordTarget::makes_agents(const Frame& frame, CallId id) const {
  std::set<std::uint32_t> seen;
  auto makes = [&](auto&& self, const Call& call) -> bool {
    if (call.form == Form::agent) return true;
    if (call.form != Form::call || !seen.insert(call.callee.value).second) return false;
    return std::ranges::any_of(program_[call.callee].calls, [&](const Call& inside) { return self(self, inside); });
  };
  bool found = makes(makes, frame.function[id]);
  for (const Block& block : frame.function[id].blocks)
    each_call(frame.function, block, [&](CallId inside) { found = found || makes(makes, frame.function[inside]); });
  return found;
}

// Output `slot` is the next version of a place that is read already.
void RecordTarget::write_place(Inputs& inputs, PlaceId place, std::size_t slot) {
  for (Requirement& requirement : inputs.requirements)
    if (place.valid() && requirement.place == place) {
      requirement.privilege = Privilege::inout;
      requirement.slot_out = static_cast<std::uint16_t>(slot);
    }
}

// ---- slots ----

namespace {

// Some task of the agent changes it.
bool may_change(const Program& program, const AgentDef& agent, const Slot& slot) {
  return std::ranges::any_of(agent.members, [&](FunctionId member) {
    return std::ranges::any_of(program[member].parameters, [&](const Parameter& parameter) {
      return parameter.role == Role::slot && parameter.privilege == Privilege::inout && parameter.name == slot.name;
    });
  });
}

}  // namespace

// Agents of the top level that the body names go along as well. Behind the other arguments stand the slots that the
// body gives back, and those agents.
std::vector<RecordTarget::ChangedSlot> RecordTarget::take_agents(Interpreter& interpreter,
                                                                 std::span<const GlobalUse> uses, Rebuilding& taken,
                                                                 std::vector<Value>& arguments) {
  List globals;
  interpreter.each_agent_global(uses, arguments, [&](GlobalUse use, const Value& value) {
    globals.push_back(
        Value(Tuple{{Value(std::int64_t{use.module.value}), Value(std::int64_t{use.variable.value}), taken(value)}}));
  });
  std::vector<ChangedSlot> changed;
  std::map<std::string, int> count;  // two agents of one kind
  List slots;
  for (const auto& [agent, copy] : taken.agents()) {
    const AgentDef& def = program_[agent->definition];
    for (std::size_t i = 0; i < def.slots.size(); ++i) {
      if (!may_change(program_, def, def.slots[i])) continue;
      std::string name = agent->path + "." + def.slots[i].name;
      if (const int k = count[name]++; k > 0) name += "#" + std::to_string(k);
      changed.push_back({agent, i, std::move(name)});
      slots.push_back(Value(Tuple{{copy, Value(static_cast<std::int64_t>(i))}}));
    }
  }
  arguments.push_back(Value(std::move(slots)));
  arguments.push_back(Value(std::move(globals)));
  return changed;
}

void RecordTarget::add_slots(const std::vector<ChangedSlot>& changed, Inputs& inputs, Definition& definition,
                             std::vector<TypeId>& out) {
  for (const ChangedSlot& slot : changed) {
    const Value& now = slot.agent->slots[slot.index];
    definition.outputs.push_back(slot.name);
    out.push_back(recorder_.graph.intern(type_of(now)));
    write_place(inputs, place_of(now), out.size() - 1);
  }
}

// A slot that came from elsewhere becomes a place here, before a node changes it.
void RecordTarget::give_places(Agent& agent) {
  const AgentDef& def = program_[agent.definition];
  for (std::size_t i = 0; i < agent.slots.size(); ++i)
    if (may_change(program_, def, def.slots[i]) && !place_of(agent.slots[i]).valid())
      agent.slots[i] = place(agent.path + "." + def.slots[i].name, agent.slots[i]);
}

// Outputs of the node from `first` on are their new versions, also where the frame has them as variables.
void RecordTarget::leave_slots(const std::vector<ChangedSlot>& changed, NodeId node, std::size_t first, Frame& frame) {
  for (const ChangedSlot& slot : changed) {
    Value& now = slot.agent->slots[slot.index];
    now = version(node, first++, place_of(now));
    if (slot.agent != frame.self.as<Agent>()) continue;
    for (const Parameter& parameter : frame.function.parameters)
      if (parameter.role == Role::slot && parameter.variable.valid() && slot.agent->slot(parameter.name) == &now)
        frame[parameter.variable] = now;
  }
}

// ---- host values that change beside tensors ----

namespace {

// A tensor decides what happens next.
struct TensorDecides {};

// Records what nobody will run: only what happens to host values is asked for.
class Rehearsal final : public Recorder {
 public:
  bool executes() const override { return false; }
  Array receive(const Tensor&, Span) override { throw TensorDecides(); }
  Value from_elsewhere(const Tensor&, Span) override { return {}; }
};

}  // namespace

// The body of the node counts for itself (while i < 3 { s = inc(s).y; i = i + 1 }), and what it counted is known here
// as well, where no tensor decides about it: by a rehearsal, in which tensors have no contents.
bool RecordTarget::rehearse(Interpreter& interpreter, const Frame& frame, CallId id, Frame& copy) {
  const FreeUse& use = interpreter.facts().free_use(frame.id, id);
  Rehearsal nobody;
  RecordTarget target(program_, nobody);
  Interpreter nested = interpreter.nested(target);
  nested.leave_host();
  auto is_it = [this](const Value& value) { return is_tensor(value); };
  auto input = [&](const Value& tensor) {
    return nobody.handle(Ref::input(nobody.graph.add_input({"", type_of(tensor)})), type_of(tensor));
  };
  auto meets = [](Agent&) {};
  Rebuilding copied(is_it, input, meets);
  const std::vector<Value> arguments = capture_frame(frame, use, copied);
  interpreter.each_agent_global(
      use.globals, arguments, [&](GlobalUse global, const Value& value) { nested.take_global(global, copied(value)); });
  auto as_it_is = [](const Value& value) { return value; };
  restore_frame(copy, use, arguments, as_it_is);
  target.rehearsed_ = {&copy, id};
  try {
    nested.step(copy, id);
  } catch (const TensorDecides&) {
    return false;
  }
  return true;
}

bool RecordTarget::tensors_decide(Interpreter& interpreter, const Frame& frame, CallId id) {
  if (rehearsed_ == std::pair<const Frame*, CallId>(&frame, id)) return false;
  Frame after(frame.function, frame.id, frame.facts);
  return !rehearse(interpreter, frame, id, after);
}

RecordTarget::Counted RecordTarget::count(Interpreter& interpreter, const Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  const FreeUse& use = interpreter.facts().free_use(frame.id, id);
  const std::vector<VariableId> variables = counted_of(frame, use);
  if (variables.empty() && !use.agents) return {};
  Frame after(frame.function, frame.id, frame.facts);
  const bool known = rehearse(interpreter, frame, id, after);
  const auto name = [&](VariableId variable) { return "'" + frame.function.variables[variable.index()].name + "'"; };
  if (!known && !variables.empty())
    throw failure("E1009", call.span,
                  name(variables[0]) +
                      " is a host value, and tensors decide here what becomes of it; inside a graph make it a tensor");
  Counted counted;
  for (VariableId variable : variables) {
    const Value& value = after[variable];
    if (depends_on_graph(value) && !value.as<GraphScalar>())
      throw failure("E1009", call.span,
                    name(variable) + " holds tensors that are made in this '" + std::string(call.form->word) +
                        "', which is one task of the graph: it gives on tensors, no lists or tuples of them");
    counted.values.emplace_back(variable, value);
  }
  if (use.agents) counted.agents = known ? after.agent_counts() : most_agents(frame, call);
  return counted;
}

// How many agents an activation may have made behind a node in which tensors decide: those behind it are others.
AgentCounts RecordTarget::most_agents(const Frame& frame, const Call& call) const {
  AgentCounts counts = frame.agent_counts();
  const auto visit_all = [&](auto&& visit) {
    for (const Block& block : call.blocks)
      each_call(frame.function, block, [&](CallId inside) { visit(frame.function[inside]); });
  };
  bool repeats = call.form->repeats();
  visit_all([&](const Call& inside) { repeats = repeats || inside.form->repeats(); });
  visit_all([&](const Call& inside) {
    if (inside.form == Form::agent) counts[program_[inside.agent].name] += repeats ? unknown_turns : 1;
  });
  return counts;
}

// Host control that touches no tensor is executed while the graph is made.
bool RecordTarget::structured_block(Interpreter& interpreter, Frame& frame, CallId id) {
  if (rehearsed_ == std::pair<const Frame*, CallId>(&frame, id)) return false;
  const Call& call = frame.function[id];
  const FreeUse& use = interpreter.facts().free_use(frame.id, id);
  bool needed = use.graph;
  for (CallId value : use.values) needed = needed || depends_on_graph(frame[value]);
  for (VariableId variable : use.read) needed = needed || depends_on_graph(frame[variable]);
  if (!needed) return false;

  { const SharedSlots newest(frame); }
  Counted counted = count(interpreter, frame, id);
  recorder_.adding(call.span);
  Inputs inputs;
  auto is_it = [this](const Value& value) { return is_tensor(value); };
  auto input = [&](const Value& tensor) {
    add_input(inputs, tensor, call.span);
    return Value(std::static_pointer_cast<Object>(std::make_shared<InputSlot>(inputs.refs.size() - 1)));
  };
  auto meets = [this](Agent& agent) { give_places(agent); };
  Rebuilding taken(is_it, input, meets);
  std::vector<Value> arguments = capture_frame(frame, use, taken);
  receive_globals(interpreter, use.globals, arguments, call.span);
  const std::vector<ChangedSlot> changed = take_agents(interpreter, use.globals, taken, arguments);

  Definition definition;
  definition.kind = call.form->repeats() ? Definition::Kind::loop : Definition::Kind::branch;
  definition.name = std::string(call.form->word);
  definition.function = frame.id;
  definition.call = id;
  std::vector<TypeId> out;
  const std::vector<VariableId> written = written_of(frame, use);
  for (VariableId variable : written) {
    const Variable& declared = frame.function.variables[variable.index()];
    definition.outputs.push_back(declared.name);
    const Value& now = frame[variable];
    out.push_back(recorder_.graph.intern(is_tensor(now) ? type_of(now) : evaluate(declared.type, frame)));
    if (frame.facts.places[variable.index()]) write_place(inputs, place_of(now), out.size() - 1);
  }
  add_slots(changed, inputs, definition, out);
  NodeId node =
      add(recorder_.graph.define(std::move(definition)),
          {.in = inputs.refs, .out = out, .scope = frame.scope, .arguments = std::move(arguments), .span = call.span},
          inputs);
  for (std::size_t slot = 0; slot < written.size(); ++slot) {
    const bool is_place = frame.facts.places[written[slot].index()];
    PlaceId place = is_place ? place_of(frame[written[slot]]) : PlaceId();
    frame[written[slot]] = version(node, slot, place);
  }
  for (auto& [variable, value] : counted.values) frame[variable] = std::move(value);
  if (use.agents) frame.set_agent_counts(std::move(counted.agents));
  leave_slots(changed, node, written.size(), frame);
  return true;
}

bool RecordTarget::structured_call(Interpreter& interpreter, Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  const Function& callee = interpreter.program()[call.callee];
  bool needed = callee.effects.graph;
  for (CallId in : call.in) needed = needed || (in.valid() && depends_on_graph(frame[in]));
  if (!needed) return false;

  recorder_.adding(call.span);
  { const SharedSlots newest(frame); }
  Inputs inputs;
  std::vector<Value> arguments;
  Definition definition;
  std::size_t declared = 0;
  const std::size_t agent = callee.agent.valid() ? 1 : 0;
  std::vector<std::string> names;
  for (const Parameter& parameter : callee.parameters)
    if (parameter.role == Role::declared) names.push_back(parameter.name);
  const bool stateless = agent > 0 && !interpreter.facts().uses_slots(call.callee);
  std::string name;
  auto is_it = [this](const Value& value) { return is_tensor(value); };
  auto input = [&](const Value& tensor) {
    add_input(inputs, tensor, call.span);
    definition.inputs.push_back(name);
    return Value(std::static_pointer_cast<Object>(std::make_shared<InputSlot>(inputs.refs.size() - 1)));
  };
  auto meets = [this](Agent& agent) { give_places(agent); };
  Rebuilding taken(is_it, input, meets);
  for (CallId in : call.in) {
    const bool is_self = stateless && arguments.empty();
    const Value given = in.valid() ? frame[in] : Value();
    name = declared < agent ? "self" : names[declared - agent];
    ++declared;
    arguments.push_back(taken(is_self ? without_slots(given) : given));
  }
  const std::vector<GlobalUse>& globals = interpreter.facts().globals(call.callee);
  receive_globals(interpreter, globals, arguments, call.span);
  name = "agents";
  const std::vector<ChangedSlot> changed = take_agents(interpreter, globals, taken, arguments);
  definition.kind = Definition::Kind::call;
  definition.name = interpreter.program().display_name(call.callee);
  definition.function = call.callee;
  const Type result = interpreter.call_type(frame, call);
  std::vector<Type> parts = result.is(Type::Kind::tuple) ? result.parts : std::vector<Type>{result};
  if (result.is(Type::Kind::none)) parts.clear();
  std::vector<TypeId> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_tensor())
      throw failure("E1009", call.span, "a fn that gives a host value from tensors inside a graph is not built yet");
    definition.outputs.push_back(parts.size() == 1 ? "value" : "value" + std::to_string(i));
    out.push_back(recorder_.graph.intern(parts[i]));
  }
  const std::size_t values = out.size();
  for (const Place& place : call.places) {  // after its value the new versions of its inout arguments
    const Value& now = frame[place.variable];
    if (!is_tensor(now))
      throw failure("E1009", call.span, "a fn that changes a host value inside a graph is not built yet");
    definition.outputs.push_back(names[place.operand - agent]);
    out.push_back(recorder_.graph.intern(type_of(now)));
    write_place(inputs, place_of(now), out.size() - 1);
  }
  add_slots(changed, inputs, definition, out);
  NodeId node =
      add(recorder_.graph.define(std::move(definition)),
          {.in = inputs.refs, .out = out, .scope = frame.scope, .arguments = std::move(arguments), .span = call.span},
          inputs);
  for (std::size_t k = 0; k < call.places.size(); ++k) {
    Value& variable = frame[call.places[k].variable];
    variable = version(node, values + k, place_of(variable));
  }
  leave_slots(changed, node, values + call.places.size(), frame);
  List results;
  for (std::size_t slot = 0; slot < values; ++slot) results.push_back(version(node, slot, PlaceId()));
  if (!result.is(Type::Kind::none))
    frame[id] = result.is(Type::Kind::tuple) ? Value(Tuple{std::move(results)}) : results[0];
  return true;
}

}  // namespace taskspec
