#include "interp/control/op_lists.hpp"

#include <algorithm>

#include "interp/control/export_graph.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/operands.hpp"
#include "interp/control/rules.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

// A value of the list: which one, in order of appearance. Its type stands there, too.
class Listed final : public Object {
 public:
  Listed(std::size_t p, Type t) : position(p), type(std::move(t)) {}
  const std::size_t position;
  const Type type;
  std::string text() const override { return "<value " + std::to_string(position) + ">"; }
};

Value listed(std::size_t position, const Type& type) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<Listed>(position, type)));
}

// The target of a body whose ops are written down.
class ListTarget final : public Target {
 public:
  explicit ListTarget(std::vector<Type> inputs) : inputs_(inputs.size()), types_(std::move(inputs)) {}
  Value input(std::size_t position) const { return listed(position, types_[position]); }
  // Fills in what is inside of a list; `outputs` are values of this target or arrays.
  void finish(OpList& list, const std::vector<Value>& outputs);

  bool is_tensor(const Value& value) const override { return value.is_array() || value.as<Listed>(); }
  Type type_of(const Value& value) const override {
    return value.is_array() ? value.array().type().type() : value.as<Listed>()->type;
  }
  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override { return interpreter.inline_task(call); }
  Value place(const std::string&, const Value& initial) override { return initial; }
  bool decide(const Value& value, Span span) override;
  Array receive(const Value& value, Span span) override;
  Value constant(Array array) override { return Value(std::move(array)); }

 private:
  static constexpr std::size_t longest = 4096;               // ops
  static constexpr std::size_t first_constant = 1ULL << 31;  // before it is known how many results there are
  ValueId value_of(const Value& value, Precision beside);

  const std::size_t inputs_;
  std::vector<Type> types_;  // of inputs and of what lines make, in order of appearance
  std::vector<std::pair<Value, Type>> constants_;
  std::vector<OpList::Line> lines_;
};

// A number that is not known yet has the precision of the tensors beside it.
ValueId ListTarget::value_of(const Value& value, Precision beside) {
  if (auto* known = value.as<Listed>()) return ValueId(known->position);
  constants_.emplace_back(value, value.is_array() ? type_of(value) : Type::tensor(beside, {}));
  return ValueId(first_constant + constants_.size() - 1);
}

// What is computed of known contents alone is known. Random numbers are made when they are asked for: a list does not
// hold them.
bool is_known(const OpDef& op, const OperandList& list, const Type& type) {
  if (std::ranges::any_of(op.operands, &Operand::at_run)) return false;
  const bool arrays = std::ranges::all_of(list.tensors, [](const Value& tensor) { return tensor.is_array(); });
  return !list.tensors.empty() && arrays && !type.has_symbols() && !any_symbolic(list.attributes);
}

// An open number of an operand that comes with each run.
bool comes_at_run(const OpDef& op, std::span<const Value> operands, const Value& value) {
  auto* open = value.as<GraphScalar>();
  for (std::size_t i = 0; open && i < std::min(operands.size(), op.operands.size()); ++i)
    if (op.operands[i].at_run && operands[i].as<GraphScalar>() == open) return true;
  return false;
}

void ListTarget::op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  const std::span<const Type> outputs = output_types(type);
  OperandList given = sort_operands(*call.op, *this, operands, outputs[0]);
  if (is_known(*call.op, given, type)) {
    made = compute(*call.op, operands, type);
    return;
  }
  if (lines_.size() == longest)
    throw failure("E3005", call.span, "the list of its ops gets longer than " + std::to_string(longest));
  OpList::Line line;
  line.op = call.op;
  const auto tensor = std::ranges::find_if(given.tensors, [this](const Value& value) { return is_tensor(value); });
  const Precision beside = (tensor == given.tensors.end() ? outputs[0] : type_of(*tensor)).precision;
  for (const Value& value : given.tensors)
    line.in.push_back(value_of(value, comes_at_run(*call.op, operands, value) ? Precision::i64 : beside));
  line.attributes = std::move(given.attributes);
  line.function = frame.id;
  line.call = CallId(static_cast<std::size_t>(&call - frame.function.calls.data()));
  line.span = call.span;
  for (const Type& output : outputs) {
    line.out.emplace_back(types_.size());
    made.push_back(listed(types_.size(), output));
    types_.push_back(output);
  }
  lines_.push_back(std::move(line));
}

bool ListTarget::decide(const Value& value, Span span) {
  if (value.is_array()) return value.array().integer(0) != 0;
  auto* open = value.as<GraphScalar>();
  throw failure("E3005", span,
                open ? "which ops run depends on " + open->text() + ", which is not known yet"
                     : "which ops run depends on data here");
}

Array ListTarget::receive(const Value& value, Span span) {
  if (value.is_array()) return value.array();
  throw failure("E3005", span, "what runs depends on data that is received here");
}

// Inputs first, then constants, then results: constants move in between.
void ListTarget::finish(OpList& list, const std::vector<Value>& outputs) {
  std::vector<ValueId> ends;
  for (const Value& value : outputs) ends.push_back(value_of(value, Precision::f32));
  auto place = [&](ValueId& value) {
    if (value.index() >= first_constant)
      value = ValueId(inputs_ + (value.index() - first_constant));
    else if (value.index() >= inputs_)
      value = ValueId(value.index() + constants_.size());
  };
  for (OpList::Line& line : lines_) {
    std::ranges::for_each(line.in, place);
    std::ranges::for_each(line.out, place);
  }
  std::ranges::for_each(ends, place);
  for (std::size_t k = 0; k < ends.size(); ++k) list.outputs[k].value = ends[k];
  const auto results = types_.begin() + static_cast<std::ptrdiff_t>(inputs_);
  list.types.assign(types_.begin(), results);
  for (auto& [value, type] : constants_) {
    list.types.push_back(std::move(type));
    list.constants.push_back(std::move(value));
  }
  list.types.insert(list.types.end(), results, types_.end());
  list.lines = std::move(lines_);
}

// ---- what a list says of its task -----------------------------------------------------------------

std::optional<SlotKind> slot_of(const Program& program, const Function& task, const Parameter& parameter) {
  if (parameter.role != Role::slot) return std::nullopt;
  for (const Slot& slot : program[task.agent].slots)
    if (slot.name == parameter.name) return slot.kind;
  return std::nullopt;
}

OpList empty_list(const Program& program, FunctionId id) {
  const Function& task = program[id];
  OpList list;
  list.task = id;
  list.name = program.display_name(id);
  for (const Parameter& parameter : task.parameters)
    if (parameter.type.is_tensor())
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

// `types` of the tensors among the parameters; `run` runs the body on them.
Result<OpList> made_list(const Interpreter& outer, FunctionId id, std::vector<Type> types, MakeCall run) {
  const Function& task = outer.program()[id];
  OpList list = empty_list(outer.program(), id);
  try {
    if (!task.extern_symbol.empty()) throw failure("E3005", task.span, "it is written in C++");
    ListTarget target(std::move(types));
    Interpreter interpreter = outer.nested(target);
    interpreter.leave_host();
    const std::vector<Value> outputs = run(interpreter, target);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (!target.is_tensor(outputs[k]))
        throw failure("E1006", task.span, "output '" + list.outputs[k].name + "' of '" + list.name + "' is not set");
    target.finish(list, outputs);
  } catch (const Error& error) {
    return with_task(error.diags(), list.name);
  } catch (const std::bad_variant_access&) {  // a list, range or string that is a symbol
    Diags diags;
    diags.error("E3005", task.span, "what runs depends on a host value that is not known yet");
    return with_task(diags, list.name);
  }
  verified([&] { return verify_op_list(list); });
  return list;
}

// A task by itself: what stands for its parameters.
class OpenCall {
 public:
  OpenCall(const Interpreter& outer, FunctionId id)
      : program_(outer.program()), task_(program_[id]), frame_(task_, id, outer.facts().function(id)) {
    std::uint32_t symbol = program_.symbols;
    for (std::size_t k = 0; k < task_.parameters.size(); ++k, symbol += 3) bind(k, symbol);
  }
  const std::vector<Type>& types() const { return types_; }
  std::vector<Value> run(Interpreter& interpreter, const ListTarget& target) const {
    TaskCall call{frame_.id, task_.span, arguments_, nullptr, ScopeId(0), nullptr};
    std::size_t next = 0;
    for (std::size_t k = 0; k < arguments_.size(); ++k)
      if (task_.parameters[k].type.is_tensor()) call.arguments[k] = target.input(next++);
    std::optional<Agent> self;
    if (task_.agent.valid()) {
      self.emplace(program_, task_.agent);
      for (std::size_t k = 0; k < arguments_.size(); ++k)
        if (task_.parameters[k].role == Role::agent_parameter) self->arguments.push_back(arguments_[k]);
      call.agent = &*self;
    }
    return run_body(interpreter, call);
  }

 private:
  // Extents of tensors that are parameters are the symbols of those.
  void bind(std::size_t k, std::uint32_t symbol) {
    const Parameter& parameter = task_.parameters[k];
    arguments_.emplace_back();
    if (parameter.type.is_tensor()) return types_.push_back(evaluate(parameter.type, frame_));
    arguments_.back() = unknown_scalar(parameter.name, parameter.type, symbol);
    frame_.registers[k] = arguments_.back();
  }

  const Program& program_;
  const Function& task_;
  Frame frame_;
  std::vector<Type> types_;       // of tensors
  std::vector<Value> arguments_;  // none for tensors
};

}  // namespace

NodeCall::NodeCall(const Program& program, const TaskGraph& graph, NodeId node, FunctionRef<Value(std::size_t)> input) {
  const Definition& definition = graph.definition(node);
  const Function& function = program[definition.function];
  call_ = {definition.function, graph[node].span, graph.arguments(node), nullptr, ScopeId(0), nullptr};
  std::size_t next = 0;
  for (std::size_t k = 0; k < function.parameters.size(); ++k)
    if (function.parameters[k].type.is_tensor() && call_.arguments[k].is_none()) call_.arguments[k] = input(next++);
  if (InstanceId agent = graph[node].agent; agent.valid()) {
    self_.emplace(program, graph.agents()[agent.index()].definition);
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

Result<OpList> op_list(const Interpreter& outer, const TaskGraph& graph, NodeId node) {
  std::vector<Type> types;
  for (const Ref& ref : graph.in(node)) types.push_back(graph.type(ref));
  const FunctionId task = graph.definition(node).function;
  return made_list(outer, task, std::move(types), [&](Interpreter& interpreter, const ListTarget& target) {
    const NodeCall call(outer.program(), graph, node, [&](std::size_t i) { return target.input(i); });
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
  });
}

Result<OpList> op_list(const Interpreter& outer, FunctionId task) {
  const OpenCall call(outer, task);
  return made_list(outer, task, call.types(),
                   [&](Interpreter& interpreter, const ListTarget& target) { return call.run(interpreter, target); });
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
