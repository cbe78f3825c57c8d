// Operations, variables, containers and receives of the interpreter.
#include <algorithm>

#include "interp/control/capture.hpp"
#include "interp/control/channel_ends.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/rebuilt.hpp"
#include "interp/control/received.hpp"
#include "interp/control/recorder.hpp"
#include "interp/control/region_values.hpp"
#include "interp/control/rules.hpp"
#include "interp/control/shared_slots.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

// What a call is given; of few operands in place.
class Operands {
 public:
  Operands(Frame& frame, const Call& call) : all_(few_.data(), call.in.size()) {
    if (call.in.size() > few_.size()) all_ = many_ = std::vector<Value>(call.in.size());
    for (std::size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].valid()) all_[i] = frame[call.in[i]];
  }
  Operands(const Operands&) = delete;
  std::span<Value> all() const { return all_; }

 private:
  std::array<Value, 3> few_;
  std::vector<Value> many_;
  std::span<Value> all_;
};

}  // namespace

// The type of a host operand as it is here: written types and lists of tensors with the extents they have now.
Type Interpreter::type_here(const Value& value, const Type& written) const {
  if (value.is_type()) return Type::of(value.type());
  if (!value.is_list()) return written;
  std::vector<Type> parts;
  for (const Value& item : value.list()) {
    if (!target_->is_tensor(item)) return written;
    parts.push_back(target_->type_of(item));
  }
  return parts.empty() ? written : Type::tuple(std::move(parts));
}

Value Interpreter::scalar_op(Frame& frame, const Call& call, std::span<const Value> operands) {
  // What the text takes for a host scalar may be a tensor here: a variable that a structured node changed.
  for (const Value& value : operands)
    if (target_->is_tensor(value))
      throw failure("E1009", call.span, "a host value that depends on a tensor inside a graph is not built yet");
  if (target_->holds_open(operands)) return target_->number(frame, call, operands);
  Value value = call.op->scalar(operands);
  const bool of_nothing = call.type.is(Type::Kind::real) && value.is_integer();  // sum of an empty list of floats
  return of_nothing ? Value(value.real()) : value;
}

Type Interpreter::type_by_rule(Frame& frame, const Call& call, std::span<const Value> operands) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const CallId in = call.in[i];
    const Value& value = operands[i];
    if (target_->is_tensor(value))
      types.push_back(target_->type_of(value));
    else
      types.push_back(in.valid() ? type_here(value, frame.function[in].type) : Type());
  }
  return result_type(*call.op, types, operands, unknown_extents_);
}

// Of one tensor, whose type is known.
void Interpreter::settled_op(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  Operands given(frame, call);
  List made = std::exchange(made_, {});
  target_->op(frame, call, given.all(), call.type, made);
  frame[id] = std::move(made[0]);
  made.clear();
  made_ = std::move(made);
}

Value Interpreter::op(Frame& frame, const Call& call) {
  Operands given(frame, call);
  const std::span<Value> operands = given.all();
  if (!makes_tensors(*call.op, call.type)) return scalar_op(frame, call, operands);
  std::optional<Type> here;  // where the checker left something open
  if (call.type.has_symbols() && !by_rules_) here = evaluate(call.type, frame);
  if (!call.op->outputs.empty() || by_rules_ || !program_.proven ||
      !is_settled(frame.function, call, here ? *here : call.type))
    here = type_by_rule(frame, call, operands);
  const Type& type = here ? *here : call.type;
  if (here) refuse_negative_extents(type, "the result", call.span);
  List made;
  if (type.is_tensor()) {
    target_->op(frame, call, operands, type, made);
    return std::move(made[0]);
  }
  for (const Type& part : type.parts) refuse_negative_extents(part, "the result", call.span);
  if (std::optional<std::size_t> console = console_operand(*call.op)) {
    if (!target_->records())
      throw failure("E1009", call.span,
                    "'" + std::string(call.op->name) + "' under control flow of a graph is not built yet");
    operands[*console] = console_;
  }
  target_->op(frame, call, operands, type, made);
  return outputs(frame, call, type, std::move(made));
}

// What a call with several outputs gives; new versions go to their places.
Value Interpreter::outputs(Frame& frame, const Call& call, const Type& type, List values) {
  if (!type.is(Type::Kind::invocation)) return Value(std::move(values));
  auto invocation = std::make_shared<Invocation>();
  invocation->label = std::string(call.op->name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = type.names[i];
    if (!is_place(*call.op, name)) {
      invocation->names.push_back(name);
      invocation->outputs.push_back(std::move(values[i]));
      continue;
    }
    for (const Place& place : call.places)
      if (call.op->operands[place.operand].name == name) frame[place.variable] = std::move(values[i]);
  }
  if (invocation->outputs.empty()) return {};
  if (auto* first = invocation->outputs[0].as<Tensor>())
    if (first->ref.is_future()) invocation->label.clear();
  return Value(std::static_pointer_cast<Object>(invocation));
}

Value Interpreter::builtin(Frame& frame, const Call& call) {
  if (!host_) return builtin_without_host(frame, call);
  Operands operands(frame, call);
  Interpreter* outer = host_->interpreter;
  Frame* outer_frame = host_->frame;
  host_->interpreter = this;
  host_->frame = &frame;
  host_->span = call.span;
  host_->type = &call.type;
  SharedSlots shared(frame);  // map(l, x => put(x)) calls a member
  Value result = call.builtin->run(*host_, operands.all());
  host_->interpreter = outer;
  host_->frame = outer_frame;
  return result;
}

// In bodies and in graphs that are looked at: what has no effect needs nothing of the world outside.
Value Interpreter::builtin_without_host(Frame& frame, const Call& call) {
  if (call.builtin->effect != Effect::pure)
    throw failure("E1302", call.span, std::string(call.builtin->name) + " is a host effect, which a graph cannot have");
  if (!target_->records() && target_->holds_open(Operands(frame, call).all()))
    throw failure("E3005", call.span, "what runs depends on a host value that is not known yet");
  HostContext nothing(program_, OpTable({}));
  host_ = &nothing;
  struct Leave {
    Interpreter& interpreter;
    ~Leave() { interpreter.leave_host(); }
  } leave{*this};
  return builtin(frame, call);
}

// ---- variables ------------------------------------------------------------------------------------

Value Interpreter::read_variable(Frame& frame, const Call& call) {
  const Value& value = frame[call.variable];
  if (value.is_none())
    throw failure("E1006", call.span, "'" + frame.function.variables[call.variable.index()].name + "' is not set yet");
  return value;
}

namespace {

std::uint64_t name_of(ModuleId module, VariableId variable) {
  return (std::uint64_t{module.value} << 32) | variable.value;
}

}  // namespace

void Interpreter::receive_globals(FunctionId function, Span span) { receive_globals(facts_->globals(function), span); }

void Interpreter::receive_globals(std::span<const GlobalUse> uses, Span span) {
  for (const GlobalUse& use : uses) {
    Frame* frame = modules_[use.module.index()].get();
    std::uint64_t name = name_of(use.module, use.variable);
    if (!frame || (*frame)[use.variable].is_none() || globals_->contains(name)) continue;
    const Value& value = (*frame)[use.variable];
    auto is_future = [](const Value& v) { return v.as<Tensor>() != nullptr; };
    auto contents = [&](const Value& v) {
      auto* tensor = v.as<Tensor>();
      return Value(tensor->recorder().receive(*tensor, span));
    };
    (*globals_)[name] =
        rebuilt(value, [&](const Value& leaf) { return is_future(leaf) ? contents(leaf) : without_slots(leaf); });
    each_function(value, [&](FunctionId inside) { receive_globals(inside, span); });
  }
}

void Interpreter::take_global(GlobalUse use, Value value) {
  taken_[name_of(use.module, use.variable)] = std::move(value);
}

Value Interpreter::read_global(Frame&, const Call& call) { return read_global(call.module, call.variable, call.span); }

Value Interpreter::read_global(ModuleId module, VariableId id, Span span) const {
  const Frame* frame = modules_[module.index()].get();
  const Variable& variable = program_[program_.modules[module.index()].top_level].variables[id.index()];
  if (!frame || (*frame)[id].is_none()) throw failure("E1006", span, "'" + variable.name + "' is not set yet");
  const Value& value = (*frame)[id];
  if (!value.is_shared()) return value;  // numbers are what they are everywhere
  const std::uint64_t name = name_of(module, id);
  if (auto taken = taken_.find(name); taken != taken_.end()) return taken->second;
  if (target_->records()) return value;
  auto received = globals_->find(name);
  if (received != globals_->end()) return received->second;
  if (value.as<Tensor>()) bug("a body reads '" + variable.name + "', which was not received before it");
  return value;
}

void Interpreter::write(Frame& frame, VariableId variable, Value value) {
  const Variable& declared = frame.function.variables[variable.index()];
  if (declared.type.is(Type::Kind::real) && value.is_integer()) value = Value(value.real());
  if (frame.facts.places[variable.index()] && target_->is_tensor(value)) value = target_->place(declared.name, value);
  frame[variable] = std::move(value);
}

// Both are lists here, and not values that are only known when a graph runs.
bool Interpreter::appends(Frame& frame, CallId id) {
  const Call& call = frame.function[id];
  return frame.facts.appends[id.index()] && frame[call.in[0]].is_list() && frame[call.in[1]].is_list();
}

// l += items: the variable lets go of its list first, so that a list that nobody else holds grows in place.
Value Interpreter::append(Frame& frame, const Call& call) {
  const List items = operand(frame, call, 1).list();
  Value list = std::move(frame[call.in[0]]);
  frame[frame.function[call.in[0]].variable] = Value();
  List& all = list.unique_list();
  all.insert(all.end(), items.begin(), items.end());
  return list;
}

void Interpreter::store(Frame& frame, const Call& call) {
  Value* place = &frame[call.variable];
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    std::int64_t index = operand(frame, call, i).integer();
    List& list = place->unique_list();
    if (index < 0 || index >= static_cast<std::int64_t>(list.size()))
      throw failure("E5003", call.span,
                    "index " + std::to_string(index) + " is outside a list of " + std::to_string(list.size()));
    place = &list[static_cast<std::size_t>(index)];
  }
  bool widen = place->is_real() && operand(frame, call, 0).is_integer();
  *place = widen ? Value(operand(frame, call, 0).real()) : operand(frame, call, 0);
}

// ---- containers -----------------------------------------------------------------------------------

Value Interpreter::element(Frame& frame, const Call& call) {
  const Value value = operand(frame, call, 0);
  Value element = value.is_tuple() ? value.tuple().items[call.index] : value.list()[call.index];
  if (auto* failed = element.as<FailedReceive>()) throw Error(failed->diags);
  return element;
}

namespace {

std::string size_text(const Value& container, std::size_t size) {
  return std::string(container.is_string() ? "a string" : "a list") + " of " + std::to_string(size);
}

}  // namespace

Value Interpreter::item(Frame& frame, const Call& call) {
  const Value& container = frame[call.in[0]];
  const std::int64_t index = frame[call.in[1]].integer();
  const std::vector<std::size_t>* starts = container.is_string() ? &letters_.of(container) : nullptr;
  std::size_t size = starts ? starts->size() - 1 : container.list().size();
  if (index < 0 || static_cast<std::size_t>(index) >= size)
    throw failure("E5003", call.span, "index " + std::to_string(index) + " is outside " + size_text(container, size));
  auto i = static_cast<std::size_t>(index);
  return starts ? Value(container.string().substr((*starts)[i], (*starts)[i + 1] - (*starts)[i])) : container.list()[i];
}

Value Interpreter::items(Frame& frame, const Call& call) {
  const Value& container = frame[call.in[0]];
  const std::int64_t begin = frame[call.in[1]].integer();
  std::int64_t end = frame[call.in[2]].integer();
  const std::vector<std::size_t>* starts = container.is_string() ? &letters_.of(container) : nullptr;
  std::size_t size = starts ? starts->size() - 1 : container.list().size();
  const auto inside = [&](std::int64_t bound) { return bound >= 0 && static_cast<std::size_t>(bound) <= size; };
  if (!inside(begin) || !inside(end))
    throw failure("E5003", call.span,
                  std::to_string(begin) + ".." + std::to_string(end) + " is outside " + size_text(container, size));
  end = std::max(begin, end);  // a range that ends before it begins is empty
  auto b = static_cast<std::size_t>(begin), e = static_cast<std::size_t>(end);
  if (starts) return Value(container.string().substr((*starts)[b], (*starts)[e] - (*starts)[b]));
  return container.with(List(container.list().begin() + begin, container.list().begin() + end));
}

Value Interpreter::field(Frame& frame, const Call& call) {
  Value value = operand(frame, call, 0);
  if (auto* record = value.as<Record>())
    if (const Value* found = record->find(call.name)) return *found;
  if (const Type& type = frame.function[call.in[0]].type; type.is(Type::Kind::task)) {
    Tuple names;
    bool inputs = call.name == "inputs";
    for (std::size_t i = inputs ? 0 : type.inputs; i < (inputs ? type.inputs : type.names.size()); ++i)
      names.items.push_back(Value::name(type.names[i]));
    return Value(std::move(names));
  }
  if (target_->is_tensor(value)) {
    Type type = target_->type_of(value);
    if (call.name == "rank") return Value(static_cast<std::int64_t>(type.rank()));
    if (call.name == "precision") return Value(std::string(info(type.precision).name));
    List shape;
    for (const Dim& dim : type.dims) shape.push_back(scalar_of(dim));
    return Value(std::move(shape));
  }
  if (auto* points = value.as<SpaceValue>(); points && call.name == "shape") {
    const IndexSpace space = target_->regions().points(points->space);
    if (!space.is_rect() && target_->regions().root(points->space).rank > 1)
      throw failure("E5004", call.span, "scattered points have no extents along axes, and these are asked for");
    List extents;
    if (!space.is_rect()) extents.push_back(Value(space.size()));
    for (std::size_t axis = 0; space.is_rect() && axis < space.rect().rank; ++axis)
      extents.push_back(Value(space.rect().extent(axis)));
    return Value(std::move(extents));
  }
  if (value.is_range()) return Value(call.name == "begin" ? value.range().begin : value.range().end);
  if (auto* range = value.as<GraphScalar>(); range && range->operands.size() == 2)
    return range->operands[call.name == "begin" ? 0 : 1];
  if (frame.function[call.in[0]].type.is(Type::Kind::range))
    throw failure("E1009", call.span, "a range that depends on a tensor inside a graph is not built yet");
  bug("no field " + call.name);
}

Value Interpreter::receive(Frame& frame, const Call& call) {
  return received(*target_, operand(frame, call, 0), static_cast<Receive>(call.index), call.span);
}

}  // namespace taskspec
