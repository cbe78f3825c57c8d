// Calls of the interpreter: functions, tasks, graphs, composition.
#include <algorithm>
#include <cstring>
#include <optional>

#include "interp/control/block_task.hpp"
#include "interp/control/capture.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/native_op.hpp"
#include "interp/control/natives.hpp"
#include "interp/control/rebuilt.hpp"
#include "interp/control/region_values.hpp"
#include "interp/control/shared_slots.hpp"
#include "ir/program/host_symbols.hpp"

namespace taskspec {

// ---- binding --------------------------------------------------------------------------------------

// Parameter `k` has its value: binds the extents of its type, its place, and the calls that stand for it.
void Interpreter::set_parameter(Frame& frame, std::size_t k, Span span) {
  const Parameter& parameter = frame.function.parameters[k];
  Value& value = frame.registers[k];
  if (parameter.type.is(Type::Kind::real) && value.is_integer()) value = Value(value.real());
  if (target_->is_tensor(value)) bind_dimensions(parameter.type, target_->type_of(value), frame, span, parameter.name);
  const bool data = parameter.type.is(Type::Kind::region) || parameter.type.is(Type::Kind::partition);
  if (data && value.is_object())
    bind_dimensions(parameter.type, type_of_data(*target_, value, parameter.type, span), frame, span, parameter.name);
  if (parameter.variable.valid()) frame[parameter.variable] = value;
}

// Gives every parameter of the frame's function its value: those of the agent, captures and declared ones
// from `given`, defaults where nothing is given.
void Interpreter::bind(Frame& frame, const Value& agent, std::vector<Value> given, Span span) {
  const Function& function = frame.function;
  auto* owner = agent.as<Agent>();
  std::size_t next = 0, agent_parameter = 0;
  frame.self = agent;
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    const Parameter& parameter = function.parameters[k];
    Value& value = frame.registers[k];
    if (parameter.role == Role::agent_parameter) {
      value = owner->arguments[agent_parameter++];
    } else if (parameter.role == Role::slot) {
      if (const Value* slot = owner->slot(parameter.name)) value = *slot;  // the host program has none
    } else {
      if (next < given.size()) value = std::move(given[next]);
      ++next;
      if (value.is_none() && parameter.default_value.valid()) {
        block(frame, parameter.default_block);
        value = frame[parameter.default_value];
      }
    }
    set_parameter(frame, k, span);
  }
  if (frame.facts.divides) [[unlikely]]
    for_each_quotient(function, [&](const Dim& quotient) { evaluate(quotient, frame, span); });
}

Type Interpreter::call_type(Frame& frame, const Call& call) {
  const Type known = evaluate(call.type, frame);
  if (!known.has_symbols()) return known;
  const Function& callee = program_[call.callee];
  std::vector<Value> given;
  for (CallId in : call.in) given.push_back(in.valid() ? frame[in] : Value());
  Value agent;
  if (callee.agent.valid()) {
    agent = std::move(given.front());
    given.erase(given.begin());
  }
  Frame inside(callee, call.callee, facts_->function(call.callee));
  bind(inside, agent, std::move(given), call.span);
  return evaluate(callee.result, inside);
}

namespace {

// What a call that returned hands out, under its own name.
[[gnu::noinline]] Value result_of(Frame& frame, Target& target, bool graph_part, Span span) {
  const Function& function = frame.function;
  if (function.kind == FunctionKind::fn) {
    bool renames = graph_part && target.is_tensor(frame.result);
    return renames ? target.renamed(frame.result, frame.scope, "value", true) : frame.result;
  }
  auto invocation = std::make_shared<Invocation>();
  for (const Output& output : function.outputs) {
    Value value = frame[output.variable];
    if (value.is_none()) throw failure("E1006", span, "output '" + output.name + "' is not set");
    invocation->names.push_back(output.name);
    invocation->outputs.push_back(
        function.kind == FunctionKind::graph ? target.renamed(value, frame.scope, output.name, false) : value);
  }
  // Names of deep calls are long: only one that no output knows is made before somebody asks.
  auto* first = invocation->outputs.empty() ? nullptr : invocation->outputs[0].as<Tensor>();
  if (!first || !first->alias) invocation->label = target.scope_path(frame.scope);
  return Value(std::static_pointer_cast<Object>(invocation));
}

}  // namespace

namespace {

// C++ on the host acts once, in the first of several runs of a program; the others take what it gave there.
Value host_result(HostContext* host, const Natives* natives, const std::string& symbol,
                  std::span<const Value> arguments, Span span) {
  Replica* const replica = host && host->replica && host->replica->agreed ? host->replica.get() : nullptr;
  if (replica && replica->number != 0) return replica->agreed->get(host->part, host->agreed++);
  Value given = call_host(natives, symbol, arguments, span);
  if (replica) replica->agreed->put(host->part, host->agreed++, given);
  return given;
}

}  // namespace

Value Interpreter::enter(Frame& frame, const CallSite& site) {
  const Function& function = frame.function;
  enter_far(site.span);
  ++depth_;
  ScopeId outer = site.caller ? site.caller->scope : ScopeId(0);
  bool graph_part = function.effects.graph || function.kind == FunctionKind::graph;
  // Reports name functions of the program as it was written.
  const FunctionId written = function.part == Part::whole ? frame.id : partner_->whole(frame.id);
  frame.scope = graph_part ? target_->open_scope(outer, program_.display_name(frame.id), written, site.span) : outer;
  frame.in_graph = function.kind == FunctionKind::graph || (site.caller && site.caller->in_graph);
  if (function.extern_symbol.empty())
    block(frame, function.body);
  else
    frame.result = host_result(host_, natives_, function.extern_symbol, frame.arguments(), site.span);
  --depth_;
  Value result = result_of(frame, *target_, graph_part, site.span);
  if (graph_part) target_->close_scope(frame.scope);
  return result;
}

namespace {

// The callee's places have new versions: they go to the agent's slots and back to the caller.
std::vector<std::pair<std::uint32_t, Value>> versions_after(const Frame& inner, Agent* agent) {
  std::vector<std::pair<std::uint32_t, Value>> versions;
  std::uint32_t position = 0;
  for (const Parameter& parameter : inner.function.parameters) {
    bool changes = parameter.privilege == Privilege::inout && parameter.variable.valid();
    if (changes && parameter.role == Role::slot && agent) *agent->slot(parameter.name) = inner[parameter.variable];
    if (parameter.role != Role::declared) continue;
    if (changes) versions.emplace_back(position, inner[parameter.variable]);
    ++position;
  }
  return versions;
}

// `first`: where the declared arguments begin among the operands of the call.
void assign_places(Frame& frame, const Call& call, std::uint32_t first,
                   const std::vector<std::pair<std::uint32_t, Value>>& versions) {
  for (const auto& [position, version] : versions)
    for (const Place& place : call.places)
      if (place.operand == first + position) frame[place.variable] = version;
}

}  // namespace

// ---- calls ----------------------------------------------------------------------------------------

namespace {

// Top-level lets that the types of its outputs are made of: its body has not run when somebody asks for those.
void read_extents(Interpreter& interpreter, Frame& frame) {
  for (const Output& output : frame.function.outputs)
    for (const Dim& dim : output.type.dims) {
      if (!dim.has_host_symbol()) continue;
      for (const Symbol& symbol : dim.symbols()) {
        if (!symbol->host || symbol->call >= frame.function.calls.size()) continue;
        const CallId value(symbol->call);
        if (frame.function[value].form == Form::global && frame[value].is_none()) interpreter.step(frame, value);
      }
    }
}

// Apart from the call of a fn, whose frame on the stack a deep recursion pays for.
[[gnu::noinline]] Value task_result(Interpreter& interpreter, Frame& frame, Agent* owner, Span span) {
  read_extents(interpreter, frame);
  const std::span<Value> arguments = frame.arguments();
  TaskCall call{frame.id, span, {arguments.begin(), arguments.end()}, owner, frame.scope, &frame};
  TaskResult done = interpreter.target().task(interpreter, call);
  for (auto& [parameter, version] : done.versions)
    if (VariableId place = frame.function.parameters[parameter].variable; place.valid())
      frame[place] = std::move(version);
  return done.invocation;
}

}  // namespace

void Interpreter::begin_activation(Frame& frame) {
  if (frame.function.part == Part::whole) return;
  if (activations_->size() <= frame.id.index()) activations_->resize(program_.functions.size());
  frame.activation = ++(*activations_)[frame.id.index()];
}

CallResult Interpreter::call(FunctionId id, const Value& agent, std::vector<Value> arguments, const CallSite& site) {
  const Function& function = program_[id];
  if (auto* trained = agent.as<Agent>(); trained && trained->training) [[unlikely]]
    return trained->training->call(*this, std::move(arguments), site.caller ? site.caller->scope : ScopeId(0),
                                   site.span);
  Frame frame(function, id, facts_->function(id), stack_);
  if (site.caller) frame.scope = site.caller->scope;
  begin_activation(frame);
  bind(frame, agent, std::move(arguments), site.span);
  auto* owner = agent.as<Agent>();
  const bool task = function.kind == FunctionKind::task;
  Value result = task ? task_result(*this, frame, owner, site.span) : enter(frame, site);
  return {std::move(result), versions_after(frame, owner)};
}

std::vector<Value> Interpreter::outputs_of(FunctionId id, const Value& agent, std::vector<Value> arguments) {
  Frame frame(program_[id], id, facts_->function(id), stack_);
  bind(frame, agent, std::move(arguments), frame.function.span);
  frame.in_graph = true;
  block(frame, frame.function.body);
  std::vector<Value> outputs;
  for (const Output& output : frame.function.outputs) {
    if (frame[output.variable].is_none())
      throw failure("E1006", output.span, "output '" + output.name + "' is not set");
    outputs.push_back(frame[output.variable]);
  }
  return outputs;
}

namespace {

// A tensor is nothing in the host program, and still it was given: its default must not run.
Value given(Frame& frame, CallId argument) {
  const Value& value = frame[argument];
  return value.is_none() && frame.function.part == Part::host ? Value(Tuple{}) : value;
}

}  // namespace

Value Interpreter::call_function(Frame& frame, const Call& call) {
  std::uint32_t first = program_[call.callee].agent.valid() ? 1 : 0;
  Value agent = first ? frame[call.in[0]] : Value();
  std::vector<Value> arguments;
  for (std::size_t i = first; i < call.in.size(); ++i)
    arguments.push_back(call.in[i].valid() ? given(frame, call.in[i]) : Value());
  CallResult result;
  {
    SharedSlots shared(frame);
    result = Interpreter::call(call.callee, agent, std::move(arguments), {call.span, &frame});
  }
  assign_places(frame, call, first, result.versions);
  return std::move(result.value);
}

TaskResult Interpreter::inline_task(const TaskCall& task) {
  const Function& function = program_[task.function];
  Frame frame(function, task.function, facts_->function(task.function), stack_);
  std::ranges::copy(task.arguments, frame.registers);
  for (std::size_t k = 0; k < function.parameters.size(); ++k) set_parameter(frame, k, task.span);
  if (task.agent) frame.self = Value(std::static_pointer_cast<Object>(std::make_shared<Agent>(*task.agent)));
  if (function.extern_symbol.empty()) {
    block(frame, function.body);
  } else {
    read_extents(*this, frame);
    call_native(frame, task.span);
  }
  TaskResult result;
  auto invocation = std::make_shared<Invocation>();
  invocation->label = program_.display_name(task.function);
  for (const Output& output : function.outputs) {
    invocation->names.push_back(output.name);
    invocation->outputs.push_back(frame[output.variable]);
  }
  for (std::uint32_t k = 0; k < function.parameters.size(); ++k)
    if (function.parameters[k].privilege == Privilege::inout)
      result.versions.emplace_back(k, frame[function.parameters[k].variable]);
  result.invocation = Value(std::static_pointer_cast<Object>(invocation));
  return result;
}

// Places have new versions that begin as the old ones.
void Interpreter::call_native(Frame& frame, Span span) {
  const Function& function = frame.function;
  auto* self = frame.self.as<Agent>();
  const NativeSite site = native_site(program_, frame.id, self ? self->path : "");
  std::vector<Array> outputs;
  std::vector<VariableId> variables;
  for (const Output& output : function.outputs) {
    outputs.push_back(Array::make(concrete(evaluate(output.type, frame))));
    variables.push_back(output.variable);
  }
  for (const Parameter& parameter : function.parameters) {
    if (parameter.privilege != Privilege::inout) continue;
    const Array& before = frame[parameter.variable].array();
    outputs.push_back(Array::make(before.type()));
    std::memcpy(outputs.back().raw(), before.raw(), before.bytes());
    variables.push_back(parameter.variable);
  }
  const auto body = native_body(natives_, function.extern_symbol, site, span);
  taskspec::call_native(*body, NativePass::forward, {site, frame.arguments(), outputs}, span);
  for (std::size_t i = 0; i < outputs.size(); ++i) frame[variables[i]] = Value(std::move(outputs[i]));
}

// Where the caller is a part of a program that is cut, the same part of it; none: nothing of it is left on this side.
FunctionId Interpreter::applied(const Callable& callable, const CallSite& site) const {
  const bool cut = site.caller && site.caller->function.part != Part::whole;
  return cut ? partner_->part(callable.function) : callable.function;
}

CallResult Interpreter::apply(const Value& callable, std::vector<Value> arguments, const CallSite& site) {
  if (auto* composed = callable.as<ComposedTask>()) return apply_composed(*composed, std::move(arguments), site);
  if (auto* blocks = callable.as<BlockTask>()) return blocks->call(*this, std::move(arguments), site);
  auto* function = callable.as<Callable>();
  if (callable.as<GraphScalar>())
    throw failure("E1009", site.span, "looking at a graph that calls a function it is given is not built yet");
  if (!function) bug("call of something that is not callable");
  std::vector<Value> all = function->captures;
  all.insert(all.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  const FunctionId callee = applied(*function, site);
  if (!callee.valid()) return {};
  return call(callee, function->agent, std::move(all), site);
}

Value Interpreter::apply_value(Frame& frame, const Call& call) {
  std::vector<Value> arguments;
  for (std::size_t i = 1; i < call.in.size(); ++i) arguments.push_back(given(frame, call.in[i]));
  CallResult result;
  {
    SharedSlots shared(frame);
    result = apply(operand(frame, call, 0), std::move(arguments), {call.span, &frame});
  }
  assign_places(frame, call, 1, result.versions);
  return std::move(result.value);
}

// ---- composition ----------------------------------------------------------------------------------

Value Interpreter::compose(Frame& frame, const Call& call) {
  auto composed = std::make_shared<ComposedTask>();
  composed->first = operand(frame, call, 0);
  composed->second = operand(frame, call, 1);
  const Type& first = frame.function[call.in[0]].type;
  composed->inputs_of_first = first.inputs;
  composed->wiring = *wire(first, frame.function[call.in[1]].type);
  composed->type = call.type;
  return Value(std::static_pointer_cast<Object>(composed));
}

CallResult Interpreter::apply_composed(const ComposedTask& composed, std::vector<Value> arguments,
                                       const CallSite& site) {
  auto of_first = arguments.begin() + static_cast<std::ptrdiff_t>(composed.inputs_of_first);
  CallResult first = apply(composed.first, {arguments.begin(), of_first}, site);
  auto* left = first.value.as<Invocation>();
  // From here on the arguments of the composite are the newest versions.
  for (auto& [position, version] : first.versions) arguments[position] = version;
  std::vector<Value> inputs;
  for (auto [from, index] : composed.wiring.inputs)
    inputs.push_back(from == Wiring::Source::From::output ? left->outputs[index] : arguments[index]);
  CallResult second = apply(composed.second, std::move(inputs), site);
  auto* right = second.value.as<Invocation>();
  for (auto& [position, version] : second.versions)
    arguments[composed.wiring.inputs[position].index] = std::move(version);

  auto invocation = std::make_shared<Invocation>();
  invocation->label = right->name();
  for (std::uint32_t output : composed.wiring.live) invocation->outputs.push_back(left->outputs[output]);
  invocation->outputs.insert(invocation->outputs.end(), right->outputs.begin(), right->outputs.end());
  invocation->names.assign(composed.type.names.begin() + composed.type.inputs, composed.type.names.end());
  CallResult result{Value(std::static_pointer_cast<Object>(invocation)), {}};
  for (std::uint32_t place : composed.type.places) result.versions.emplace_back(place, std::move(arguments[place]));
  return result;
}

// ---- callables ------------------------------------------------------------------------------------

Value Interpreter::make_callable(Frame& frame, const Call& call) {
  auto callable = std::make_shared<Callable>(program_, call.callee);
  if (call.form == Form::member) callable->agent = operand(frame, call, 0);
  if (call.form == Form::closure)
    for (std::size_t i = 0; i < call.in.size(); ++i) callable->captures.push_back(operand(frame, call, i));
  return Value(std::static_pointer_cast<Object>(callable));
}

}  // namespace taskspec
