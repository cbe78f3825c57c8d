#include "interp/control/capture.hpp"

#include <algorithm>

#include "interp/control/rebuilt.hpp"

namespace taskspec {

Value Rebuilding::operator()(const Value& value) {
  return rebuilt(value, [&](const Value& leaf) {
    if (is_tensor_(leaf)) return replace_(leaf);
    auto* agent = leaf.as<Agent>();
    return agent && holds_slots(leaf) ? copy_of(*agent) : leaf;
  });
}

Value Rebuilding::copy_of(Agent& agent) {
  if (auto known = copies_.find(&agent); known != copies_.end()) return known->second;
  meets_(agent);
  auto copy = std::make_shared<Agent>(agent);
  const Value value(std::static_pointer_cast<Object>(copy));
  copies_.emplace(&agent, value);
  if (!agent.slots.empty()) agents_.push_back({&agent, value});
  for (Value& argument : copy->arguments) argument = (*this)(argument);
  for (Value& slot : copy->slots) slot = (*this)(slot);
  return value;
}

namespace {

// Every value inside of `value` that is no container of the language, itself too; behind an agent what it was made with
// and the agents that it holds. Some come several times.
void each_object(const Value& value, FunctionRef<void(const Value&)> visit) {
  auto all = [&](const List& items) {
    for (const Value& item : items) each_object(item, visit);
  };
  if (value.is_list()) return all(value.list());
  if (value.is_tuple()) return all(value.tuple().items);
  visit(value);
  if (auto* invocation = value.as<Invocation>()) all(invocation->outputs);
  if (auto* composed = value.as<ComposedTask>()) all({composed->first, composed->second});
  if (auto* callable = value.as<Callable>()) {
    all(callable->captures);
    each_object(callable->agent, visit);
  }
  if (auto* agent = value.as<Agent>()) {
    all(agent->arguments);
    all(agent->slots);  // layers
  }
}

}  // namespace

void each_agent(const Value& value, FunctionRef<void(Agent&)> visit) {
  each_object(value, [&](const Value& object) {
    if (auto* agent = object.as<Agent>()) visit(*agent);
  });
}

void each_function(const Value& value, FunctionRef<void(FunctionId)> visit) {
  each_object(value, [&](const Value& object) {
    if (auto* callable = object.as<Callable>()) visit(callable->function);
  });
}

bool holds_slots(const Value& value) {
  bool found = false;
  each_agent(value, [&](Agent& agent) { found = found || !agent.slots.empty(); });
  return found;
}

Value without_slots(const Value& value) {
  auto* agent = value.as<Agent>();
  if (!agent || agent->slots.empty()) return value;
  auto copy = std::make_shared<Agent>(*agent);
  copy->slots.clear();
  return Value(std::static_pointer_cast<Object>(copy));
}

std::vector<Value> capture_frame(const Frame& frame, const FreeUse& use, FunctionRef<Value(const Value&)> capture) {
  std::vector<Value> arguments;
  for (CallId id : use.values) arguments.push_back(capture(frame[id]));
  for (VariableId id : use.read) arguments.push_back(capture(frame[id]));
  for (std::uint32_t k : use.parameters) arguments.push_back(capture(frame.registers[k]));
  SeldomInFrame::Dimensions known = frame.dimensions();
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  List extents;
  for (const auto& [symbol, dim] : known)
    if (dim.is_constant())
      extents.push_back(Value(Tuple{{Value(static_cast<std::int64_t>(symbol)), Value(*dim.constant())}}));
  arguments.push_back(Value(std::move(extents)));
  List made;
  if (use.agents)
    for (const auto& [name, count] : frame.agent_counts())
      made.push_back(Value(Tuple{{Value(name), Value(std::int64_t{count})}}));
  arguments.push_back(Value(std::move(made)));
  arguments.push_back(use.self ? capture(use.slots ? frame.self : without_slots(frame.self)) : Value());
  return arguments;
}

void restore_frame(Frame& frame, const FreeUse& use, const std::vector<Value>& arguments,
                   FunctionRef<Value(const Value&)> restore) {
  std::size_t next = 0;
  for (CallId id : use.values) {
    Value value = restore(arguments[next++]);
    if (!frame.facts.registers.is_constant(id)) frame[id] = std::move(value);
  }
  for (VariableId id : use.read) frame[id] = restore(arguments[next++]);
  for (std::uint32_t k : use.parameters) frame.registers[k] = restore(arguments[next++]);
  for (const Value& entry : arguments[next++].list())
    frame.bind_dimension(static_cast<std::uint32_t>(entry.tuple().items[0].integer()),
                         Dim(entry.tuple().items[1].integer()));
  AgentCounts made;
  for (const Value& entry : arguments[next++].list())
    made[entry.tuple().items[0].string()] = static_cast<std::uint32_t>(entry.tuple().items[1].integer());
  if (!made.empty()) frame.set_agent_counts(std::move(made));
  frame.self = restore(arguments[next]);
  frame.in_graph = true;
}

namespace {

std::vector<VariableId> written_as(bool tensors, const Frame& frame, const FreeUse& use) {
  std::vector<VariableId> written = use.written;
  std::erase_if(written, [&](VariableId variable) {
    return frame.function.variables[variable.index()].type.is_tensor() != tensors;
  });
  return written;
}

}  // namespace

std::vector<VariableId> counted_of(const Frame& frame, const FreeUse& use) { return written_as(false, frame, use); }

std::vector<VariableId> written_of(const Frame& frame, const FreeUse& use) {
  std::vector<VariableId> written = written_as(true, frame, use);
  auto* agent = frame.self.as<Agent>();
  if (!use.self || !use.slots || !agent || agent->slots.empty()) return written;
  std::erase_if(written, [&](VariableId variable) {
    return std::ranges::any_of(frame.function.parameters, [&](const Parameter& parameter) {
      return parameter.role == Role::slot && parameter.variable == variable;
    });
  });
  return written;
}

}  // namespace taskspec
