#include "ir/program/form_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/records/op_outputs.hpp"

namespace taskspec {

using Kind = Type::Kind;

bool is_agent(const Type& type, AgentId agent) { return type.is(Kind::agent) && type.agent == agent; }

bool is_condition(const Type& type) {
  return type.is(Kind::boolean) || (type.is_tensor() && type.precision == Precision::boolean);
}

std::size_t captures(const Function& function) {
  return static_cast<std::size_t>(
      std::ranges::count_if(function.parameters, [](const Parameter& p) { return p.role == Role::capture; }));
}

FormCheck::FormCheck(const Program& of, FunctionId id, Fault fault)
    : program(of),
      function(of[id]),
      fault_(std::move(fault)),
      seen_(function.calls.size()),
      changed_(function.variables.size()) {}

void FormCheck::want(bool fine, std::string_view wrong) const {
  if (fine) return;
  if (!at_.valid()) return fault_(std::string(wrong));
  fault_(fmt::format("call {} ({}): {}", at_.value, function[at_].form->word, wrong));
}

bool FormCheck::ints(const Call& call, std::size_t from) const {
  for (std::size_t i = from; i < call.in.size(); ++i)
    if (!type(call, i).is(Kind::integer)) return false;
  return true;
}

bool FormCheck::is_turn(const Call& call) const { return turns_.contains(CallId(&call - function.calls.data())); }

// ---- walking --------------------------------------------------------------------------------------

void FormCheck::block(const Block& block) {
  const std::size_t here = ++blocks_;
  for (CallId id : block.calls) {
    at_ = id;
    const Call& call = function[id];
    seen_[id.index()] = {here, ++time_};
    if (call.form->check) call.form->check(*this, call);
    note_changes(call);
    if (call.form->repeats()) note_turn(call);
    for (const Block& inner : call.blocks) this->block(inner);
  }
  at_ = CallId();
}

// Members change slots of their agent unseen.
void FormCheck::note_changes(const Call& call) {
  for (const Place& place : call.places) changed_[place.variable.index()] = time_;
  if (call.form->writes()) changed_[call.variable.index()] = time_;
  if (call.form->enters == FormRecord::Enters::nothing) return;
  for (const Parameter& parameter : function.parameters)
    if (parameter.role == Role::slot && parameter.variable.valid()) changed_[parameter.variable.index()] = time_;
}

namespace {

// What one turn of a loop over it sees: nothing where it is nothing to loop over.
Type turn_of(const Type& domain) {
  if (domain.is(Type::Kind::range)) return Type::Kind::integer;
  if (domain.is(Type::Kind::view) || domain.is(Type::Kind::region))
    return domain.dims.size() == 1 ? Type(Type::Kind::integer)
                                   : Type::tuple(std::vector<Type>(domain.dims.size(), Type::Kind::integer));
  return domain.parts.empty() ? Type() : domain.parts[0];
}

}  // namespace

// The loop variable, when it is used, is the first call of the body.
void FormCheck::note_turn(const Call& call) {
  const Block& body = call.blocks.back();
  if (call.in.empty() || body.calls.empty() || function[body.calls[0]].form != Form::loop) return;
  const Type& domain = type(call, 0);
  want(agree(type(body.calls[0]), turn_of(domain)), "a loop variable of another type");
  turns_.insert(body.calls[0]);
}

// ---- ops and builtins -----------------------------------------------------------------------------

namespace {

// Host operands are of the kind that their record says; a rule judges tensors, and what may be several things.
bool takes(const Operand& operand, const Type& type) {
  auto is_axes = [&](std::size_t least, std::size_t most) {
    if (!type.is(Type::Kind::tuple)) return type.is(Type::Kind::integer);
    return type.parts.size() >= least && type.parts.size() <= most &&
           std::all_of(type.parts.begin(), type.parts.end(), [](const Type& t) { return t.is(Type::Kind::integer); });
  };
  if (type.is(Type::Kind::none)) return operand.standard.kind == Default::Kind::absent;
  switch (operand.kind) {
    case OperandKind::integer:
      if (operand.at_run && type.is_tensor()) return type.precision == Precision::i64 && type.rank() == 0;
      return type.is(Type::Kind::integer);
    case OperandKind::real:
      return type.is_number();
    case OperandKind::boolean:
      return type.is(Type::Kind::boolean);
    case OperandKind::string:
      return type.is(Type::Kind::string);
    case OperandKind::axes:
      return is_axes(0, SIZE_MAX);
    case OperandKind::pair:
      return is_axes(2, 2);
    case OperandKind::type:
      return type.is(Type::Kind::type);
    case OperandKind::function:
      return type.is(Type::Kind::function);
    default:
      return true;
  }
}

// A constant, or a top-level let whose value the checker saw.
bool is_known(const Call& call) {
  return call.form == Form::constant || (call.form == Form::global && !call.value.is_none());
}

}  // namespace

// Ops and builtins: what their rule says of operands of these types.
void FormCheck::record(const Call& call, std::span<const Operand> operands, TypeRule rule) const {
  bool variadic = !operands.empty() && operands.back().variadic;
  std::size_t least = operands.size() - (variadic ? 1 : 0);
  want(call.in.size() >= least && (variadic || call.in.size() == least), "another number of operands");
  std::vector<Type> types;
  std::vector<const Value*> values;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    CallId in = call.in[i];
    bool absent = i < operands.size() && operands[i].standard.kind == Default::Kind::absent;
    want(in.valid() || absent, "an operand is missing");
    types.push_back(in.valid() ? function[in].type : Type());
    if (in.valid() && !operands.empty()) {
      const Operand& operand = operands[std::min(i, operands.size() - 1)];
      if (operand.kind == OperandKind::tensors) types.back() = spread(function[in]);
      want(takes(operand, types.back()),
           fmt::format("its operand '{}' cannot be {}", operand.name, types.back().text()));
    }
    values.push_back(in.valid() && is_known(function[in]) ? &function[in].value : nullptr);
  }
  Type result;
  try {
    result = ruled(rule, std::move(types), std::move(values));
  } catch (const Error& error) {
    want(false, error.diags().items().front().message);
  }
  if (call.op) result = result_of_call(*call.op, result);
  want(agree(call.type, result), fmt::format("its result is {}, not {}", result.text(), call.type.text()));
  written(call, operands);
}

// Every place that the record names is there, and no other.
void FormCheck::written(const Call& call, std::span<const Operand> operands) const {
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < call.in.size() && i < operands.size(); ++i)
    if (operands[i].privilege == Privilege::inout && call.in[i].valid()) ++wanted;
  want(call.places.size() == wanted, "another number of places than the op changes");
  for (const Place& place : call.places)
    want(place.operand < operands.size() && operands[place.operand].privilege == Privilege::inout,
         "a place that the op does not change");
  places(call);
}

// A list of tensors shows its rule the type of each.
Type FormCheck::spread(const Call& call) const {
  if (call.form != Form::list || call.in.empty() || !type(call, 0).is_tensor()) return call.type;
  std::vector<Type> parts;
  for (std::size_t i = 0; i < call.in.size(); ++i) parts.push_back(type(call, i));
  return Type::tuple(std::move(parts));
}

// A call goes on from the newest version of its places: they are read beside it, and nothing changes them in between.
void FormCheck::places(const Call& call) const {
  for (const Place& place : call.places) {
    const CallId in = call.in[place.operand];
    want(in.valid() && agree(type(place.variable), type(in)), "a place of another type");
    want(function[in].form == Form::variable && function[in].variable == place.variable,
         "a place that is not what it reads");
    const Seen& read = seen_[in.index()];
    want(read.block == seen_[at_.index()].block && read.time > changed_[place.variable.index()],
         "a place that is not read as it is now");
  }
}

}  // namespace taskspec
