#include "interp/control/bodies.hpp"

#include "interp/control/capture.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/shared_slots.hpp"

namespace taskspec {

namespace {

// What the graph was planned with: the body must give the same, whatever its own types say.
ArrayType output_type(const TaskGraph& graph, NodeId node, std::size_t slot) {
  return concrete(graph.type(graph.out(node)[slot]));
}

// A tensor, or a number that was one element of one.
Value given(const Array& input, const Type& parameter) {
  if (parameter.is_tensor()) return Value(input);
  if (parameter.is(Type::Kind::real)) return Value(input.number(0));
  const std::int64_t number = input.integer(0);
  return parameter.is(Type::Kind::boolean) ? Value(number != 0) : Value(number);
}

}  // namespace

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

std::vector<Array> ProgramBodies::run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) {
  ImmediateTarget target;
  Interpreter interpreter = outer_.nested(target);
  interpreter.leave_host();
  std::vector<Value> values;
  if (graph.definition(node).kind == Definition::Kind::task) {
    const NodeCall call(outer_.program(), graph, node,
                        [&](std::size_t i, const Parameter& parameter) { return given(inputs[i], parameter.type); });
    values = run_body(interpreter, *call);
  } else {
    auto is_slot = [](const Value& v) { return v.as<InputSlot>() != nullptr; };
    auto input = [&](const Value& v) { return Value(inputs[v.as<InputSlot>()->position]); };
    auto met = [](Agent&) {};
    Rebuilding restore(is_slot, input, met);
    values = run_structured(interpreter, graph, node, restore);
  }
  std::vector<Array> outputs;
  for (Value& value : values) {
    ArrayType wanted = output_type(graph, node, outputs.size());
    if (value.array().type() != wanted)
      throw failure("E5004", graph[node].span,
                    "'" + graph.slot_out(node, outputs.size()) + "' of " + graph.path(node) + " is " +
                        value.array().type().text() + " here, " + wanted.text() + " is needed");
    outputs.push_back(value.array());
  }
  return outputs;
}

}  // namespace taskspec
