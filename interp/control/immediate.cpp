#include "interp/control/immediate.hpp"

#include "interp/control/interpreter.hpp"
#include "interp/control/operands.hpp"
#include "ir/op_outputs.hpp"

namespace taskspec {

namespace {

OpInstance instance_of(const OpDef& op, const OperandList& list, const Target& target, const Type& type) {
  OpInstance instance{&op, {}, list.attributes, {}};
  for (const Type& output : output_types(type)) instance.out.push_back(concrete(output));
  for (const Value& tensor : list.tensors) instance.in.push_back(concrete(target.type_of(tensor)));
  return instance;
}

}  // namespace

List compute(const OpDef& op, std::span<const Value> operands, const Type& type) {
  ImmediateTarget target;
  OperandList list = sort_operands(op, target, operands, type);
  OpInstance instance = instance_of(op, list, target, type);
  std::unique_ptr<Kernel> kernel = op.kernel(instance);
  std::vector<const std::byte*> in;
  for (const Value& tensor : list.tensors) in.push_back(tensor.array().raw());
  List results;
  std::vector<std::byte*> out;
  for (const ArrayType& output : instance.out) {
    results.push_back(Value(Array::make(output)));
    out.push_back(results.back().array().raw());
  }
  Array scratch = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel->scratch_bytes())}});
  Serial serial;
  if (auto fault = kernel->run({in, out, scratch.raw(), serial})) throw failure(fault->code, {}, fault->message);
  return results;
}

List ImmediateTarget::op(const Frame&, const Call& call, std::span<const Value> operands, const Type& type) {
  return compute(*call.op, operands, type);
}

TaskResult ImmediateTarget::task(Interpreter& interpreter, const TaskCall& call) {
  return interpreter.inline_task(call);
}

// ---- tracing --------------------------------------------------------------------------------------

namespace {

class TraceValue final : public Object {
 public:
  TraceValue(std::uint32_t p, ArrayType t) : position(p), type(std::move(t)) {}
  std::uint32_t position;
  ArrayType type;
  std::string text() const override { return "<value " + std::to_string(position) + ">"; }
};

Value trace_value(std::uint32_t position, ArrayType type) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<TraceValue>(position, std::move(type))));
}

}  // namespace

TraceTarget::TraceTarget(std::vector<ArrayType> inputs) : inputs_(inputs.size()), types_(std::move(inputs)) {}

Value TraceTarget::input(std::size_t position) const {
  return trace_value(static_cast<std::uint32_t>(position), types_[position]);
}

bool TraceTarget::is_tensor(const Value& value) const { return value.is_array() || value.as<TraceValue>(); }

Type TraceTarget::type_of(const Value& value) const {
  return value.is_array() ? value.array().type().type() : value.as<TraceValue>()->type.type();
}

std::uint32_t TraceTarget::position(const Value& value) {
  if (auto* traced = value.as<TraceValue>()) return traced->position;
  constants_.push_back(value.array());
  return first_constant + static_cast<std::uint32_t>(constants_.size() - 1);
}

List TraceTarget::op(const Frame&, const Call& call, std::span<const Value> operands, const Type& type) {
  if (steps_.size() == longest) throw NotTraceable{};
  OperandList list = sort_operands(*call.op, *this, operands, type);
  BodyTrace::Step step{instance_of(*call.op, list, *this, type), {}, {}};
  bool known = !list.tensors.empty();
  for (const Value& tensor : list.tensors) known = known && tensor.is_array();
  if (known) return compute(*call.op, operands, type);
  for (const Value& tensor : list.tensors) step.in.push_back(position(tensor));
  List results;
  for (const ArrayType& output : step.op.out) {
    step.out.push_back(static_cast<std::uint32_t>(types_.size()));
    types_.push_back(output);
    results.push_back(trace_value(step.out.back(), output));
  }
  steps_.push_back(std::move(step));
  return results;
}

TaskResult TraceTarget::task(Interpreter& interpreter, const TaskCall& call) { return interpreter.inline_task(call); }

bool TraceTarget::decide(const Value& value, Span) {
  if (!value.is_array()) throw NotTraceable{};
  return value.array().integer(0) != 0;
}

BodyTrace TraceTarget::finish(const std::vector<Value>& outputs) {
  std::vector<std::uint32_t> ends;
  for (const Value& value : outputs) ends.push_back(position(value));
  // Inputs first, then constants, then results: constants move in between.
  auto shift = static_cast<std::uint32_t>(constants_.size());
  auto place = [&](std::uint32_t p) {
    if (p >= first_constant) return static_cast<std::uint32_t>(inputs_) + (p - first_constant);
    return p < inputs_ ? p : p + shift;
  };
  BodyTrace trace;
  trace.inputs = static_cast<std::uint32_t>(inputs_);
  trace.values.assign(types_.begin(), types_.begin() + static_cast<std::ptrdiff_t>(inputs_));
  for (const Array& constant : constants_) trace.values.push_back(constant.type());
  trace.values.insert(trace.values.end(), types_.begin() + static_cast<std::ptrdiff_t>(inputs_), types_.end());
  for (BodyTrace::Step& step : steps_) {
    for (auto& p : step.in) p = place(p);
    for (auto& p : step.out) p = place(p);
  }
  for (std::uint32_t p : ends) trace.outputs.push_back(place(p));
  trace.constants = std::move(constants_);
  trace.steps = std::move(steps_);
  return trace;
}

}  // namespace taskspec
