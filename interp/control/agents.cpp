// Agents are made: their arguments, and the first values of their slots.
#include <algorithm>
#include <optional>

#include "interp/control/capture.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/rebuilt.hpp"
#include "interp/control/step_recording.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {

namespace {

// The first value of a slot with random numbers: its stream is a parameter, for one function serves all agents.
bool takes_stream(const Function& initial) {
  return std::ranges::any_of(initial.parameters, [](const Parameter& p) { return p.role == Role::declared; });
}

// Something else for a while.
template <class T>
class Meanwhile {
 public:
  Meanwhile(T& place, T value) : place_(place), before_(std::exchange(place, value)) {}
  ~Meanwhile() { place_ = before_; }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  T& place_;
  const T before_;
};

// While the first values of slots are made that belong to no graph.
class SlotGuard {
 public:
  explicit SlotGuard(Target& target) : target_(target) { target_.begin_slot(); }
  ~SlotGuard() { target_.end_slot(); }
  SlotGuard(const SlotGuard&) = delete;
  SlotGuard& operator=(const SlotGuard&) = delete;

 private:
  Target& target_;
};

}  // namespace

// What the slots of an agent are called: places go by its path; random numbers of the second Net are others.
struct AgentName {
  std::string path;    // "Net", "Net.c1"
  std::string stream;  // "Net#1", "Net#1.c1"
};

// The names of the agents of a layer, which are made one after the other: Net.c1; Net.blocks[0], Net.blocks[1].
class LayerNames {
 public:
  LayerNames(const AgentName& outer, const Slot& slot)
      : name_{outer.path + "." + slot.name, outer.stream + "." + slot.name}, list_(slot.type.is(Type::Kind::list)) {}

  AgentName next() {
    const std::string index = list_ ? "[" + std::to_string(made_++) + "]" : "";
    return {name_.path + index, name_.stream + index};
  }

 private:
  const AgentName name_;
  const bool list_;
  std::size_t made_ = 0;
};

Value Interpreter::agent_for(FunctionId member) {
  const AgentId agent = program_[member].agent;
  return agent.valid() ? make_agent(agent, {}, {program_[member].span}) : Value();
}

Value Interpreter::make_agent(Frame& frame, const Call& call) {
  std::vector<Value> arguments;
  for (CallId in : call.in) arguments.push_back(in.valid() ? frame[in] : Value());
  return make_agent(call.agent, std::move(arguments), {call.span, &frame});
}

Value Interpreter::make_agent(AgentId id, std::vector<Value> arguments, const CallSite& site) {
  const AgentDef& def = program_[id];
  auto agent = std::make_shared<Agent>(program_, id);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Value& value = arguments[i];
    if (def.parameters[i].type.is(Type::Kind::real) && value.is_integer()) value = Value(value.real());
    if (holds_slots(value))
      throw failure("E1009", site.span, "an agent made with a function value of an agent with slots is not built yet");
    (void)rebuilt(value, [&](const Value& leaf) {
      if (!target_->is_tensor(leaf)) return leaf;
      throw failure("E1009", site.span, "an agent with a tensor inside its arguments is not built yet");
    });
    agent->arguments.push_back(std::move(value));
  }
  LayerNames* const layer = layer_;
  AgentName name{def.name, def.name};
  if (layer)
    name = layer->next();
  else if (const std::uint32_t ordinal = site.caller ? site.caller->count_agent(def.name) : 0; ordinal > 0)
    name.stream += "#" + std::to_string(ordinal);
  agent->path = name.path;
  agent->stream = name.stream;
  agent->instance = target_->instance(*agent);
  agent->home = target_->home();
  Value self(std::static_pointer_cast<Object>(agent));
  if (site.caller && site.caller->function.part == Part::host) return self;  // its slots are the graph's
  std::optional<SlotGuard> guard;  // those of an agent made inside a graph are tasks of that graph
  const bool of_graph = site.caller && site.caller->function.kind == FunctionKind::graph;
  if (!of_graph && !layer) guard.emplace(*target_);
  for (const Slot& slot : def.slots) agent->slots.push_back(first_value(slot, self, name, site));
  target_->layers(*agent);
  if (recording_) recording_->made(self);
  return self;
}

std::vector<Value> Interpreter::first_values(const Agent& agent) {
  const AgentDef& def = program_[agent.definition];
  const Value self(std::static_pointer_cast<Object>(std::make_shared<Agent>(agent)));
  std::vector<Value> values = agent.slots;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Slot& slot = def.slots[i];
    if (slot.kind == SlotKind::layer) continue;
    receive_globals(slot.initial, slot.span);
    values[i] = first_value(slot, self, {agent.path, agent.stream}, {slot.span});
  }
  return values;
}

Value Interpreter::first_value(const Slot& slot, const Value& agent, const AgentName& name, const CallSite& site) {
  const std::string own = name.stream + "." + slot.name;
  std::vector<Value> stream;
  if (takes_stream(program_[slot.initial])) stream.push_back(Value(std::int64_t{fnv1a32(own)}));
  LayerNames names(name, slot);
  const Meanwhile<LayerNames*> inner(layer_, slot.kind == SlotKind::layer ? &names : nullptr);
  const Meanwhile<HostContext*> lent(host_, host_ ? host_ : host_of_slots_);
  Value value = call(slot.initial, agent, std::move(stream), {slot.span, site.caller}).value;
  return slot.kind == SlotKind::layer ? value : target_->place(name.path + "." + slot.name, value);
}

}  // namespace taskspec
