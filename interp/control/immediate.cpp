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
  std::vector<Array> tensors;
  for (const Value& tensor : list.tensors) tensors.push_back(tensor.array());
  List results;
  for (Array& array : compute(instance_of(op, list, target, type), tensors)) results.emplace_back(std::move(array));
  return results;
}

std::vector<Array> compute(const OpInstance& op, std::span<const Array> tensors) {
  std::unique_ptr<Kernel> kernel = op.op->kernel(op);
  std::vector<const std::byte*> in;
  for (const Array& tensor : tensors) in.push_back(tensor.raw());
  std::vector<Array> results;
  std::vector<std::byte*> out;
  for (const ArrayType& output : op.out) out.push_back(results.emplace_back(Array::make(output)).raw());
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
