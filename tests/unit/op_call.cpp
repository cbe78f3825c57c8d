#include "tests/unit/op_call.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "ir/records/op_outputs.hpp"
#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"
#include "stdlib/ops.hpp"

namespace taskspec {

bool holds_tensors(const Value& operand) {
  return operand.is_array() || (operand.is_list() && !operand.list().empty() && operand.list().front().is_array());
}

namespace {

Type type_of(const Value& value) {
  if (value.is_array()) return value.array().type().type();
  if (value.is_integer()) return Type::Kind::integer;
  if (value.is_real()) return Type::Kind::real;
  if (value.is_bool()) return Type::Kind::boolean;
  if (value.is_string()) return Type::Kind::string;
  if (value.is_type()) return value.type();
  const List* items = value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
  if (!items) return Type::Kind::none;
  if (value.is_list() && !items->empty() && !holds_tensors(value)) return Type::list(type_of(items->front()));
  std::vector<Type> parts;
  for (const Value& item : *items) parts.push_back(type_of(item));
  return Type::tuple(std::move(parts));
}

// A host number that stands as tensor operand becomes a tensor of the precision beside it.
void convert_numbers(const OpDef& op, const std::vector<Type>& types, std::vector<Value>& operands) {
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].at_run && operands[i].is_integer()) operands[i] = scalar_array(operands[i], Precision::i64);
  if (std::none_of(types.begin(), types.end(), [](const Type& t) { return t.is_tensor(); })) return;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].kind == OperandKind::tensor && (operands[i].is_number() || operands[i].is_bool()))
      operands[i] = scalar_array(operands[i], scalar_precision(types, i));
}

}  // namespace

OpCall prepare(std::string_view name, std::vector<Value> operands) {
  const OpDef* op = standard_ops().find(name);
  if (!op) bug("no op named " + std::string(name));
  for (std::size_t i = operands.size(); i < op->operands.size() && !op->operands[i].variadic; ++i)
    operands.push_back(op->operands[i].standard.value());
  std::vector<Type> types;
  std::vector<Value> known;  // what the rule may look at: no contents of tensors
  for (const Value& value : operands) {
    types.push_back(type_of(value));
    known.push_back(holds_tensors(value) ? Value() : value);
  }
  OpCall call;
  call.instance.op = op;
  const Type ruled = infer(*op, types, known);
  for (const Type& output : output_types(ruled)) call.instance.out.push_back(concrete(output));
  convert_numbers(*op, types, operands);
  for (const Value& value : operands) {
    const bool tensors = holds_tensors(value);
    if (value.is_array()) call.tensors.push_back(value.array());
    if (tensors && value.is_list())
      for (const Value& item : value.list()) call.tensors.push_back(item.array());
    call.instance.attributes.push_back(tensors ? Value() : value);
  }
  for (const Array& tensor : call.tensors) call.instance.in.push_back(tensor.type());
  return call;
}

std::vector<Array> run(const Kernel& kernel, const OpCall& call, Parallel& parallel) {
  Array scratch = Array::make({Precision::u8, {static_cast<std::int64_t>(kernel.scratch_bytes())}});
  std::memset(scratch.raw(), 0xa5, scratch.bytes());
  std::vector<const std::byte*> in;
  for (const Array& tensor : call.tensors) in.push_back(tensor.raw());
  std::vector<Array> results;
  std::vector<std::byte*> out;
  for (const ArrayType& type : call.instance.out) {
    results.push_back(Array::make(type));
    std::memset(results.back().raw(), 0xcd, results.back().bytes());
    out.push_back(results.back().raw());
  }
  if (std::optional<Fault> fault = kernel.run({in, out, scratch.raw(), parallel}))
    throw failure(fault->code, {}, fault->message);
  return results;
}

Array call_op(std::string_view op, std::vector<Value> operands, Parallel& parallel) {
  OpCall call = prepare(op, std::move(operands));
  return run(*call.instance.op->kernel(call.instance), call, parallel)[0];
}

Array call_op(std::string_view op, std::vector<Value> operands) {
  Serial serial;
  return call_op(op, std::move(operands), serial);
}

void Shuffled::run(std::int64_t count, std::int64_t grain, Body body, void* context) {
  std::int64_t parts = (count + grain - 1) / grain;
  auto some = [&](std::int64_t first) {
    for (std::int64_t part = first; part >= 0; part -= 2)
      body(context, part * grain, std::min(count, (part + 1) * grain));
  };
  std::thread other([&] { some(parts - 2); });
  some(parts - 1);
  other.join();
}

Array random_array(ArrayType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Array array = Array::make(std::move(type));
  const PrecisionInfo& range = info(array.precision());
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    std::uint64_t bits = random();
    if (range.is_float)
      array.set_number(i, static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    else {
      std::int64_t low = std::max<std::int64_t>(range.minimum, -100), high = std::min<std::int64_t>(range.maximum, 100);
      array.set_integer(i, low + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(high - low + 1)));
    }
  }
  return array;
}

}  // namespace taskspec
