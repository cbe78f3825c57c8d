#include "interp/control/immediate.hpp"

#include "interp/control/interpreter.hpp"
#include "interp/control/operands.hpp"
#include "ir/records/op_outputs.hpp"

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
    Array array = Array::make(output);
    out.push_back(array.raw());
    results.push_back(Value(std::move(array)));
  }
  Array scratch = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel->scratch_bytes())}});
  Serial serial;
  if (auto fault = kernel->run({in, out, scratch.raw(), serial})) throw failure(fault->code, {}, fault->message);
  return results;
}

void ImmediateTarget::op(const Frame&, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  made = compute(*call.op, operands, type);
}

TaskResult ImmediateTarget::task(Interpreter& interpreter, const TaskCall& call) {
  return interpreter.inline_task(call);
}

}  // namespace taskspec
