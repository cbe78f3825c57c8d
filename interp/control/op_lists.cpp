#include "interp/control/op_lists.hpp"

#include <algorithm>

#include "interp/control/deep_stack.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/control/list_target.hpp"
#include "interp/control/native_op.hpp"
#include "interp/control/rules.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

// ---- what a list says of its task -----------------------------------------------------------------

std::optional<SlotKind> slot_of(const Program& program, const Function& task, const Parameter& parameter) {
  if (parameter.role != Role::slot) return std::nullopt;
  for (const Slot& slot : program[task.agent].slots)
    if (slot.name == parameter.name) return slot.kind;
  return std::nullopt;
}

// By parameter: a number that is an input.
using Open = std::vector<bool>;

OpList empty_list(const Program& program, FunctionId id, const Open& open) {
  const Function& task = program[id];
  OpList list;
  list.task = id;
  list.name = program.display_name(id);
  for (std::size_t k = 0; k < task.parameters.size(); ++k)
    if (const Parameter& parameter = task.parameters[k]; parameter.type.is_tensor() || open[k])
      list.inputs.push_back({parameter.name, parameter.privilege, slot_of(program, task, parameter)});
  for (const Output& output : task.outputs) list.outputs.push_back({output.name, {}, false});
  for (const Parameter& parameter : task.parameters)
    if (parameter.privilege == Privilege::inout) list.outputs.push_back({parameter.name, {}, true});
  return list;
}

// Whose list it would have been.
Diags with_task(const Diags& diags, const std::string& name) {
  Diags named;
  for (Diag diag : diags.items()) {
    if (diag.code == Code("E3005"))
      diag.message = "the body of '" + name + "' is not a straight list of ops: " + diag.message;
    named.add(std::move(diag));
  }
  return named;
}

using MakeCall = FunctionRef<std::vector<Value>(Interpreter& interpreter, const ListTarget& target)>;

// `types` of the inputs: of the tensors among the parameters, and of the numbers that `open` says; `run` runs the body.
// In a step of training its number comes behind them, and random numbers go by `name`.
Result<OpList> made_list(const Interpreter& outer, FunctionId id, const Open& open, std::vector<Type> types,
                         MakeCall run, const std::string& name = {}) {
  const Function& task = outer.program()[id];
  OpList list = empty_list(outer.program(), id, open);
  if (outer.step()) {
    list.inputs.push_back({"step", Privilege::in, {}});
    types.push_back(Type::tensor(Precision::i64, {}));
  }
  StepContext step;
  try {
    if (!task.extern_symbol.empty()) throw failure("E3005", task.span, "it is written in C++");
    ListTarget target(std::move(types), outer.program().symbols);
    Interpreter interpreter = outer.nested(target);
    interpreter.leave_host();
    if (outer.step()) {
      step = {target.tensor(list.inputs.size() - 1), name, 0};
      interpreter.set_step(&step);
    }
    const std::vector<Value> outputs = run(interpreter, target);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (!target.is_tensor(outputs[k]))
        throw failure("E1006", task.span, "output '" + list.outputs[k].name + "' of '" + list.name + "' is not set");
    target.finish(list, outputs);
  } catch (const Error& error) {
    after_deep_throw();
    return with_task(error.diags(), list.name);
  } catch (const std::bad_variant_access&) {  // a list, range or string that is a symbol
    Diags diags;
    diags.error("E3005", task.span, "what runs depends on a host value that is not known yet");
    return with_task(diags, list.name);
  }
  verified([&] { return verify_op_list(list); });
  return list;
}

// A number that the caller gives.
bool may_be_open(const Parameter& parameter) {
  return parameter.role == Role::declared && is_host_number(parameter.type);
}

Type input_type(const Type& number) { return Type::tensor(run_precision(number), {}); }

// A task by itself: what stands for its parameters.
class OpenCall {
 public:
  OpenCall(const Interpreter& outer, FunctionId id, const Open& open)
      : program_(outer.program()), task_(program_[id]), frame_(task_, id, outer.facts().function(id)) {
    for (std::size_t k = 0; k < task_.parameters.size(); ++k) bind(k, open[k]);
  }
  const std::vector<Type>& types() const { return types_; }
  std::vector<Value> run(Interpreter& interpreter, const ListTarget& target) const {
    TaskCall call{frame_.id, task_.span, arguments_, nullptr, ScopeId(0), nullptr};
    for (std::size_t k = 0, input = 0; k < arguments_.size(); ++k) {
      auto* scalar = arguments_[k].as<GraphScalar>();
      if (arguments_[k].is_none()) call.arguments[k] = target.input(input, task_.parameters[k]);
      input += !scalar || scalar->input != UINT32_MAX;
    }
    std::optional<Agent> self;
    if (task_.agent.valid()) {
      self.emplace(program_, task_.agent);
      for (std::size_t k = 0; k < arguments_.size(); ++k)
        if (task_.parameters[k].role == Role::agent_parameter) self->arguments.push_back(arguments_[k]);
      call.agent = &*self;
    }
    return run_body(interpreter, call);
  }
  static std::uint32_t symbol_of(const Program& program, std::size_t parameter) {
    return program.symbols + static_cast<std::uint32_t>(3 * parameter);
  }

 private:
  // Extents of tensors that are parameters are the symbols of those.
  void bind(std::size_t k, bool open) {
    const Parameter& parameter = task_.parameters[k];
    arguments_.emplace_back();
    if (parameter.type.is_tensor()) return types_.push_back(evaluate(parameter.type, frame_));
    const auto input = open ? static_cast<std::uint32_t>(types_.size()) : UINT32_MAX;
    if (open) types_.push_back(input_type(parameter.type));
    arguments_.back() = unknown_scalar(parameter.name, parameter.type, symbol_of(program_, k), input);
    frame_.registers[k] = arguments_.back();
  }

  const Program& program_;
  const Function& task_;
  Frame frame_;
  std::vector<Type> types_;       // of inputs
  std::vector<Value> arguments_;  // none for tensors
};

// Nothing is open in it but numbers that kernels read.
bool is_closed(const OpList& list) {
  const auto has_open = [](const OpList::Line& line) { return std::ranges::any_of(line.attributes, is_open_value); };
  return std::ranges::none_of(list.types, &Type::has_symbols) && std::ranges::none_of(list.lines, has_open);
}

// What is made of ints in other ways than extents are has symbols of its own, from here on.
constexpr std::uint32_t first_made_symbol = 0x80000000;

bool speaks_of(const Type& type, std::uint32_t symbol) {
  auto speaks = [&](const Symbol& s) { return s->id == symbol || s->id >= first_made_symbol; };
  return std::ranges::any_of(type.dims, [&](const Dim& dim) { return std::ranges::any_of(dim.symbols(), speaks); });
}

bool speaks_of(const Value& value, std::uint32_t symbol) {
  auto inside = [&](const List& items) {
    return std::ranges::any_of(items, [&](const Value& item) { return speaks_of(item, symbol); });
  };
  if (value.is_list()) return inside(value.list());
  if (value.is_tuple()) return inside(value.tuple().items);
  if (value.is_type()) return speaks_of(value.type(), symbol);
  auto* open = value.as<GraphScalar>();
  if (!open) return false;
  return open->operands.empty() ? speaks_of(Type::tensor(Precision::i64, {open->dim}), symbol) : inside(open->operands);
}

// The number behind this symbol decides an extent, or what an op is.
bool decides(const OpList& list, std::uint32_t symbol) {
  return std::ranges::any_of(list.types, [&](const Type& type) { return speaks_of(type, symbol); }) ||
         std::ranges::any_of(list.lines, [&](const OpList::Line& line) {
           return std::ranges::any_of(line.attributes, [&](const Value& value) { return speaks_of(value, symbol); });
         });
}

Result<OpList> open_list(const Interpreter& outer, FunctionId task, const Open& open) {
  const OpenCall call(outer, task, open);
  return made_list(outer, task, open, call.types(),
                   [&](Interpreter& interpreter, const ListTarget& target) { return call.run(interpreter, target); });
}

}  // namespace

Precision run_precision(const Type& number) {
  if (number.is(Type::Kind::boolean)) return Precision::boolean;
  return number.is(Type::Kind::real) ? Precision::f64 : Precision::i64;
}

namespace {

// The list of a call, whose numbers are inputs where `open` says so.
Result<OpList> list_of_call(const Interpreter& outer, const TaskCall& call, const Open& open,
                            FunctionRef<Type(const Value&)> type_of) {
  const Function& task = outer.program()[call.function];
  std::vector<Type> types;
  for (std::size_t k = 0; k < open.size(); ++k)
    if (const Parameter& parameter = task.parameters[k]; parameter.type.is_tensor() || open[k])
      types.push_back(open[k] ? input_type(parameter.type) : type_of(call.arguments[k]));
  return made_list(outer, call.function, open, types, [&](Interpreter& interpreter, const ListTarget& target) {
    TaskCall inside = call;
    for (std::size_t k = 0, input = 0; k < open.size(); ++k)
      if (const Parameter& parameter = task.parameters[k]; parameter.type.is_tensor() || open[k])
        inside.arguments[k] = target.input(input++, parameter);
    return run_body(interpreter, inside);
  });
}

}  // namespace

// Tried out: all of them at once, or one after the other. A body that has no list is run by the interpreter, on
// whatever numbers come.
std::vector<bool> numbers_at_run(const Interpreter& outer, const TaskCall& call,
                                 FunctionRef<Type(const Value&)> type_of) {
  const Function& task = outer.program()[call.function];
  Open all(task.parameters.size()), open = all;
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = may_be_open(task.parameters[k]);
  if (all == open || !task.extern_symbol.empty()) return all;
  auto fits = [&](const Open& numbers) {
    const Result<OpList> list = list_of_call(outer, call, numbers, type_of);
    return list && is_closed(*list);
  };
  if (fits(all)) return all;
  const Result<OpList> known = list_of_call(outer, call, open, type_of);
  if (!known) return known.diags().items().front().code == Code("E3005") ? all : open;
  for (std::size_t k = 0; k < all.size(); ++k) {
    open[k] = all[k];
    if (all[k] && !fits(open)) open[k] = false;
  }
  return open;
}

namespace {

// That comes to the node through one of its inputs.
bool is_input(const Parameter& parameter, const Value& argument) {
  return argument.is_none() && (parameter.type.is_tensor() || may_be_open(parameter));
}

}  // namespace

NodeCall::NodeCall(const Program& program, const TaskGraph& graph, NodeId node, Input input) {
  const Definition& definition = graph.definition(node);
  const Function& function = program[definition.function];
  call_ = {definition.function, graph[node].span, graph.arguments(node), nullptr, ScopeId(0), nullptr};
  std::size_t next = 0;
  for (std::size_t k = 0; k < function.parameters.size(); ++k)
    if (const Parameter& parameter = function.parameters[k]; is_input(parameter, call_.arguments[k]))
      call_.arguments[k] = input(next++, parameter);
  if (InstanceId agent = graph[node].agent; agent.valid()) {
    self_.emplace(program, graph.agents()[agent.index()].definition);
    self_->path = graph.agents()[agent.index()].path;
    self_->arguments = graph.agents()[agent.index()].arguments;
    call_.agent = &*self_;
  }
}

std::vector<Value> run_body(Interpreter& interpreter, const TaskCall& call) {
  TaskResult result = interpreter.inline_task(call);
  std::vector<Value> outputs = result.invocation.as<Invocation>()->outputs;
  for (auto& version : result.versions) outputs.push_back(std::move(version.second));
  return outputs;
}

namespace {

// In a step of training, where its reverse is needed. Elsewhere the interpreter calls the function as it comes.
Result<OpList> native_list(const Interpreter& outer, const TaskGraph& graph, NodeId node) {
  try {
    return native_op_list(outer.program(), outer.natives(), graph, node);
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace

Result<OpList> op_list(const Interpreter& outer, const TaskGraph& graph, NodeId node) {
  std::vector<Type> types;
  for (const Ref& ref : graph.in(node)) types.push_back(graph.type(ref));
  const FunctionId task = graph.definition(node).function;
  const Function& function = outer.program()[task];
  if (outer.step() && !function.extern_symbol.empty()) return native_list(outer, graph, node);
  Open open(function.parameters.size());
  for (std::size_t k = 0; k < open.size(); ++k)
    open[k] = !function.parameters[k].type.is_tensor() && is_input(function.parameters[k], graph.arguments(node)[k]);
  return made_list(
      outer, task, open, std::move(types),
      [&](Interpreter& interpreter, const ListTarget& target) {
        const NodeCall call(outer.program(), graph, node,
                            [&](std::size_t i, const Parameter& parameter) { return target.input(i, parameter); });
        std::vector<Value> outputs = run_body(interpreter, *call);
        for (std::size_t k = 0; k < outputs.size(); ++k) {
          const Type& wanted = graph.type(graph.out(node)[k]);
          const Type given = target.is_tensor(outputs[k]) ? target.type_of(outputs[k]) : wanted;
          if (given.has_symbols() || wanted.has_symbols() || given == wanted) continue;
          throw failure("E5004", graph[node].span,
                        "'" + graph.slot_out(node, k) + "' of " + graph.path(node) + " is " + given.text() + " here, " +
                            wanted.text() + " is needed");
        }
        return outputs;
      },
      graph.path(node));
}

// First as if no number decided anything; then those that do are symbols as extents are.
Result<OpList> op_list(const Interpreter& outer, FunctionId task) {
  const Function& function = outer.program()[task];
  Open open(function.parameters.size());
  for (std::size_t k = 0; k < open.size(); ++k) open[k] = may_be_open(function.parameters[k]);
  Result<OpList> list = open_list(outer, task, open);
  if (!list) return list;
  const Open all = open;
  for (std::size_t k = 0; k < open.size(); ++k)
    open[k] = open[k] && !decides(*list, OpenCall::symbol_of(outer.program(), k));
  return open == all ? std::move(list) : open_list(outer, task, open);
}

namespace {

// What a call left: a tensor or several, then new versions.
std::vector<Value> values_of(CallResult result) {
  std::vector<Value> values;
  if (auto* invocation = result.value.as<Invocation>())
    values = invocation->outputs;
  else if (result.value.is_tuple())
    values = result.value.tuple().items;
  else
    values.push_back(std::move(result.value));
  for (auto& version : result.versions) values.push_back(std::move(version.second));
  return values;
}

// Inputs as the arguments say, and the names of all outputs.
OpList generic_head(const Program& program, const Function& function, FunctionId id,
                    const std::vector<GenericArgument>& arguments) {
  OpList list;
  list.task = id;
  list.name = program.display_name(id);
  std::size_t k = 0;
  std::vector<OpList::Output> places;
  for (const Parameter& parameter : function.parameters) {
    if (parameter.role != Role::declared) continue;
    if (k < arguments.size() && std::holds_alternative<Type>(arguments[k]))
      list.inputs.push_back({parameter.name, parameter.privilege, {}});
    if (parameter.privilege == Privilege::inout) places.push_back({parameter.name, {}, true});
    ++k;
  }
  for (const Output& output : function.outputs) list.outputs.push_back({output.name, {}, false});
  if (function.kind == FunctionKind::fn) list.outputs.push_back({"value", {}, false});
  list.outputs.insert(list.outputs.end(), places.begin(), places.end());
  return list;
}

}  // namespace

Result<OpList> generic_op_list(const Interpreter& outer, const Value& callable,
                               const std::vector<GenericArgument>& arguments) {
  const auto& called = *callable.as<Callable>();
  const Function& function = outer.program()[called.function];
  OpList list = generic_head(outer.program(), function, called.function, arguments);
  std::vector<Type> types;
  for (const GenericArgument& argument : arguments)
    if (auto* type = std::get_if<Type>(&argument)) types.push_back(type->is_tensor() ? *type : input_type(*type));
  try {
    ListTarget target(types, outer.program().symbols);
    if (function.kind == FunctionKind::fn) target.calls_body();
    Interpreter interpreter = outer.nested(target);
    interpreter.leave_host();
    interpreter.go_by_rules();
    std::vector<Value> given;
    std::size_t input = 0;
    for (const GenericArgument& argument : arguments) {
      auto* type = std::get_if<Type>(&argument);
      Parameter parameter;
      if (type) parameter.type = *type, parameter.name = list.inputs[input].name;
      given.push_back(type ? target.input(input++, parameter) : std::get<Value>(argument));
    }
    const std::vector<Value> outputs = values_of(interpreter.apply(callable, std::move(given), {function.span}));
    if (outputs.size() != list.outputs.size())
      throw failure("E1004", function.span, "expected tensors from '" + list.name + "'");
    for (const Value& value : outputs)
      if (!target.is_tensor(value)) throw failure("E1004", function.span, "expected tensors from '" + list.name + "'");
    target.finish(list, outputs);
  } catch (const Error& error) {
    after_deep_throw();
    return with_task(error.diags(), list.name);
  }
  verified([&] { return verify_op_list(list); });
  return list;
}

Result<OpList> op_list(const Program& program, FunctionId task, const OpTable& ops,
                       const std::atomic<bool>* interrupted) {
  std::optional<Result<OpList>> made;
  try {
    with_interpreter(
        program, task, ops, [&](Interpreter& interpreter) { made = op_list(interpreter, task); }, interrupted);
  } catch (const Error& error) {
    return error.diags();
  }
  return *std::move(made);
}

}  // namespace taskspec
