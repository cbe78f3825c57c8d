#include "interp/control/bodies.hpp"

#include <chrono>
#include <numeric>

#include "interp/control/capture.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/natives.hpp"
#include "interp/control/shared_slots.hpp"
#include "interp/control/tape_gradients.hpp"

namespace taskspec {

namespace {

// A tensor, or a number that was one element of one.
Value given(Target& target, const Value& input, const Parameter& parameter) {
  const Type& type = parameter.type;
  if (type.is_tensor()) return input;
  const Array number = target.receive(input, {});
  if (type.is(Type::Kind::real)) return Value(number.number(0));
  return type.is(Type::Kind::boolean) ? Value(number.integer(0) != 0) : Value(number.host_integer(0));
}

std::vector<Array> arrays_of(const std::vector<Value>& values) {
  std::vector<Array> arrays;
  for (const Value& value : values) arrays.push_back(value.array());
  return arrays;
}

}  // namespace

const Program* ProgramBodies::program() const { return &outer_.program(); }
const OpTable* ProgramBodies::ops() const { return outer_.host() ? &outer_.host()->ops : nullptr; }
Value ProgramBodies::global(ModuleId module, VariableId variable) {
  ImmediateTarget target;
  return outer_.nested(target).read_global(module, variable, {});
}
const BlockTable* ProgramBodies::blocks() const { return outer_.host() ? outer_.host()->blocks : nullptr; }

std::shared_ptr<const ExternBody> ProgramBodies::extern_body(FunctionId task, std::span<const ArrayType> inputs) {
  return extern_view(outer_.natives(), outer_.program(), task, inputs);
}

std::vector<Value> ProgramBodies::run_structured(Interpreter& interpreter, const TaskGraph& graph, NodeId node,
                                                 FunctionRef<Value(const Value&)> restore) {
  const Definition& definition = graph.definition(node);
  const Function& function = interpreter.program()[definition.function];
  std::vector<Value> captured = graph.arguments(node);
  const Value globals = std::move(captured.back()), slots = std::move(captured[captured.size() - 2]);
  captured.resize(captured.size() - 2);
  for (const Value& global : globals.list()) {
    const List& items = global.tuple().items;
    interpreter.take_global({ModuleId(static_cast<std::size_t>(items[0].integer())),
                             VariableId(static_cast<std::size_t>(items[1].integer()))},
                            restore(items[2]));
  }
  auto leave_slots = [&](std::vector<Value>& outputs) {
    for (const Value& slot : slots.list()) {
      const List& items = slot.tuple().items;
      outputs.push_back(restore(items[0]).as<Agent>()->slots[static_cast<std::size_t>(items[1].integer())]);
    }
  };
  if (definition.kind == Definition::Kind::call) {
    std::vector<Value> arguments;
    for (const Value& value : captured) arguments.push_back(restore(value));
    Value agent;
    if (function.agent.valid()) {
      agent = arguments.front();
      arguments.erase(arguments.begin());
    }
    CallResult result = interpreter.call(definition.function, agent, std::move(arguments), {graph[node].span});
    std::vector<Value> outputs = result.value.is_tuple() ? result.value.tuple().items : std::vector<Value>{};
    if (!result.value.is_tuple() && !result.value.is_none()) outputs.push_back(std::move(result.value));
    for (auto& version : result.versions) outputs.push_back(std::move(version.second));
    leave_slots(outputs);
    return outputs;
  }
  Frame frame(function, definition.function, interpreter.facts().function(definition.function));
  const FreeUse& use = interpreter.facts().free_use(definition.function, definition.call);
  restore_frame(frame, use, captured, restore);
  interpreter.step(frame, definition.call);
  std::vector<Value> outputs;
  for (VariableId variable : written_of(frame, use)) {
    if (frame[variable].is_none())
      throw failure("E1006", graph[node].span,
                    "'" + function.variables[variable.index()].name + "' is not set on this path");
    outputs.push_back(frame[variable]);
  }
  const SharedSlots shared(frame);
  leave_slots(outputs);
  return outputs;
}

std::vector<Value> ProgramBodies::values(Interpreter& interpreter, const TaskGraph& graph, NodeId node, Input input) {
  if (graph.definition(node).kind == Definition::Kind::task) {
    const NodeCall call(outer_.program(), graph, node, [&](std::size_t i, const Parameter& parameter) {
      return given(interpreter.target(), input(i), parameter);
    });
    return run_body(interpreter, *call);
  }
  auto is_slot = [](const Value& v) { return v.as<InputSlot>() != nullptr; };
  auto place = [&](const Value& v) { return input(v.as<InputSlot>()->position); };
  auto met = [](Agent&) {};
  Rebuilding restore(is_slot, place, met);
  return run_structured(interpreter, graph, node, restore);
}

// What the graph was planned with: the body must give the same, whatever its own types say.
void ProgramBodies::check(const TaskGraph& graph, NodeId node, std::span<const Array> outputs) {
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const ArrayType wanted = concrete(graph.type(graph.out(node)[slot])), &made = outputs[slot].type();
    if (made != wanted)
      throw failure("E5004", graph[node].span,
                    "'" + graph.slot_out(node, slot) + "' of " + graph.path(node) + " is " + made.text() + " here, " +
                        wanted.text() + " is needed");
  }
}

std::vector<Array> ProgramBodies::run_on(Target& target, const TaskGraph& graph, NodeId node,
                                         std::span<const Array> inputs) {
  Interpreter interpreter = outer_.nested(target);
  interpreter.leave_host();
  return arrays_of(values(interpreter, graph, node, [&](std::size_t i) { return Value(inputs[i]); }));
}

std::vector<Array> ProgramBodies::run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) {
  std::vector<Array> outputs;
  if (const EmbeddedTask* embedded = graph.definition(node).embedded.get()) {
    outputs = embedded->reverse ? run_reverse(*embedded, std::move(inputs)) : run_forward(*embedded, std::move(inputs));
  } else if (watches_) {
    WatchedTarget target(outer_.program());
    const auto begin = std::chrono::steady_clock::now();
    outputs = run_on(target, graph, node, inputs);
    const auto time = std::chrono::steady_clock::now() - begin;
    inside_.add(outer_.program(), graph, node, target,
                std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  } else {
    ImmediateTarget target;
    outputs = run_on(target, graph, node, inputs);
  }
  check(graph, node, outputs);
  return outputs;
}

// ---- of a training step ---------------------------------------------------------------------------

// `input` gives those of the node, and the number of the step behind them.
std::vector<Value> ProgramBodies::step_values(Target& target, const EmbeddedTask& task, Input input) {
  Interpreter interpreter = outer_.nested(target);
  interpreter.leave_host();
  StepContext step;
  if (task.in_step) {
    step = {input(task.graph->in(task.node).size()), task.graph->path(task.node), 0};
    interpreter.set_step(&step);
  }
  return values(interpreter, *task.graph, task.node, input);
}

std::vector<Array> ProgramBodies::run_forward(const EmbeddedTask& task, std::vector<Array> inputs) {
  ImmediateTarget target;
  return arrays_of(step_values(target, task, [&](std::size_t i) { return Value(inputs[i]); }));
}

// Inputs: gradients of outputs, as many as there are of each, and those of the forward task.
std::vector<Array> ProgramBodies::run_reverse(const EmbeddedTask& task, std::vector<Array> inputs) {
  const auto gradients = static_cast<std::ptrdiff_t>(std::reduce(task.upstream.begin(), task.upstream.end()));
  const std::vector<Array> forward(inputs.begin() + gradients, inputs.end());
  inputs.resize(static_cast<std::size_t>(gradients));
  TapeTarget target(forward);
  const std::vector<Value> outputs = step_values(target, task, [&](std::size_t i) { return target.tensor(i); });
  const Tape tape = std::move(target).finish(outputs);
  return gradients_of(tape, task, inputs);
}

}  // namespace taskspec
