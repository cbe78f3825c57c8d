// How an op is recorded.
#include <algorithm>

#include "interp/control/frame.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/operands.hpp"
#include "interp/control/record.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

RecordTarget::Site& RecordTarget::site_of(const Frame& frame, const Call& call) {
  const auto position = static_cast<std::uint64_t>(&call - frame.function.calls.data());
  Site& site = sites_[(std::uint64_t{frame.id.value} << 32) | position];
  if (site.op == call.op && site.numbers.size() == call.in.size()) return site;
  site = {};
  site.op = call.op;
  site.console = console_operand(*call.op);
  site.numbers.resize(call.in.size());
  return site;
}

// Calls of one op differ in their slots when tensors may be left out, or when outputs are counted by an operand.
DefinitionId RecordTarget::define(Site& site, const Type& type, std::span<const Value> operands) {
  if (site.definition.valid()) return site.definition;
  const OpDef& op = *site.op;
  const bool alike = op.outputs.empty();
  if (auto known = ops_.find(&op); alike && known != ops_.end()) return site.definition = known->second;
  Definition definition;
  definition.name = op.name;
  definition.op = &op;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Operand& operand = op.operands[i];
    const bool tensor = operand.kind == OperandKind::tensor || operand.kind == OperandKind::tensors || operand.at_run;
    if (tensor && (alike || (i < operands.size() && !operands[i].is_none())))
      definition.inputs.emplace_back(operand.name);
  }
  definition.outputs = output_names(op, type);
  DefinitionId id = recorder_.graph.define(std::move(definition));
  if (alike) site.definition = ops_.emplace(&op, id).first->second;
  return id;
}

// Known before the program runs: computed now, leaves no node.
void RecordTarget::folded(const Call& call, std::span<const Value> operands, const Type& type, List& made) {
  std::vector<Value> known(operands.begin(), operands.end());
  auto contents = [](Value& value) {
    if (auto* tensor = value.as<Tensor>()) value = tensor->recorder().graph.constant(tensor->ref.id);
  };
  for (Value& value : known) {
    contents(value);
    if (!value.is_list()) continue;
    for (Value& item : value.unique_list()) contents(item);
  }
  made = compute(*call.op, known, type);
  for (Value& result : made) result = constant(result.array());
}

PlaceId RecordTarget::console() {
  if (!console_.valid() || !recorder_.graph.contains(console_)) {
    Array nothing = Array::make({Precision::u8, {1}});
    Type type = nothing.type().type();
    console_ = recorder_.graph.add_place("console", Ref::constant(recorder_.graph.add_constant(type, Value(nothing))));
  }
  return console_;
}

void RecordTarget::add_operands(Site& site, const Call& call, std::span<const Value> operands, const Type& type,
                                Scratch& scratch) {
  Inputs& inputs = scratch.inputs;
  auto add_tensor = [&](const Value& value) {
    if (auto* tensor = value.as<Tensor>(); tensor && tensor->is_of(recorder_)) return add_input(inputs, *tensor);
    auto* scalar = value.as<GraphScalar>();  // a host scalar of a graph that is only looked at
    if (!scalar) return add_input(inputs, value, call.span);
    const bool direct = scalar->input != UINT32_MAX;
    inputs.refs.push_back(direct ? Ref::input(scalar->input)
                                 : Ref::constant(recorder_.graph.add_constant(scalar->type, value)));
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Value& attribute = scratch.node.arguments.emplace_back();
    switch (use_of(*call.op, i, operands[i], *this)) {
      case OperandUse::tensors:
        for (const Value& item : operands[i].list()) add_tensor(item);
        break;
      case OperandUse::tensor:
        add_tensor(operands[i]);
        break;
      case OperandUse::number:
        add_number(
            site.numbers[i], operands[i],
            [&] { return scalar_array(operands[i], number_precision(*call.op, i, *this, operands, type)); }, inputs,
            call.span);
        break;
      case OperandUse::attribute:
        attribute = operands[i];
    }
  }
}

// Which outputs are versions of places, and of which.
void RecordTarget::write_places(Site& site, const Call& call, std::span<const Value> operands, const Type& type,
                                Scratch& scratch) {
  scratch.places.resize(scratch.out.size());
  if (!call.places.empty()) {
    const std::vector<std::string> names = output_names(*call.op, type);
    for (const Place& place : call.places) {
      auto name = std::ranges::find(names, call.op->operands[place.operand].name);
      auto slot = static_cast<std::size_t>(name - names.begin());
      scratch.places[slot] = place_of(operands[place.operand]);
      write_place(scratch.inputs, scratch.places[slot], slot);
    }
  }
  if (!site.console) return;
  scratch.places[0] = console();
  scratch.inputs.requirements.push_back({scratch.places[0], Privilege::out});
}

// A number of the host written as a tensor of one element that holds it as it is: a constant, where nobody looks for
// the node. A loop that hands such numbers on stays a loop of launches and nothing else.
bool RecordTarget::is_number_as_tensor(const Call& call, std::span<const Value> operands, const Type& type) const {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (!recorder_.forgets() || call.op->symbol != "as" || !type.is_tensor() || !type.dims.empty()) return false;
  const Value& value = operands[0];
  if (type.precision == Precision::f64)
    return value.is_real() || (value.is_integer() && value.integer() >= -exact && value.integer() <= exact);
  return (type.precision == Precision::i64 && value.is_integer()) ||
         (type.precision == Precision::boolean && value.is_bool());
}

void RecordTarget::op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  if (call.folded) return folded(call, operands, type, made);
  if (is_number_as_tensor(call, operands, type)) {
    made.push_back(constant(scalar_array(operands[0], type.precision)));
    return;
  }
  recorder_.adding(call.span);
  for (const Place& place : call.places) {  // an input of a session, say, has no place yet
    Value& value = operands[place.operand];
    if (!place_of(value).valid()) value = this->place(std::string(call.op->operands[place.operand].name), value);
  }
  Site& site = site_of(frame, call);
  std::unique_ptr<Scratch> scratch = std::exchange(scratch_, nullptr);
  if (!scratch) scratch = std::make_unique<Scratch>();
  auto& [inputs, out, places, node] = *scratch;
  const std::span<const Type> types = output_types(type);
  for (const Type& output : types) {
    const bool again = site.out.valid() && recorder_.graph.type(site.out) == output;
    out.push_back(again ? site.out : recorder_.graph.intern(output));
  }
  if (types.size() == 1) site.out = out[0];
  add_operands(site, call, operands, types[0], *scratch);
  write_places(site, call, operands, type, *scratch);
  node.in = inputs.refs;
  node.out = out;
  node.scope = frame.scope;
  node.span = call.span;
  const NodeId id = add(define(site, type, operands), std::move(node), inputs);
  for (std::size_t slot = 0; slot < types.size(); ++slot)
    made.push_back(places[slot].valid() ? version(id, slot, places[slot])
                                        : recorder_.handle(Ref::future(id, slot), recorder_.shared_type(out[slot])));
  scratch->clear();
  scratch_ = std::move(scratch);
}

}  // namespace taskspec
