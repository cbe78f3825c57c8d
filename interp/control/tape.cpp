#include "interp/control/tape.hpp"

#include "interp/control/immediate.hpp"

namespace taskspec {

namespace {

std::vector<Type> types_of(const std::vector<Array>& arrays) {
  std::vector<Type> types;
  for (const Array& array : arrays) types.push_back(array.type().type());
  return types;
}

constexpr std::size_t longest_tape = 1 << 24;  // ops

}  // namespace

TapeTarget::TapeTarget(std::vector<Array> inputs)
    : ListTarget(types_of(inputs), 0, longest_tape), contents_(std::move(inputs)) {}

Array TapeTarget::contents(const Value& value) const {
  return value.is_array() ? value.array() : contents_[position_of(value)];
}

Value TapeTarget::known(const Value& value) const {
  if (is_tensor(value)) return Value(contents(value));
  if (!value.is_list()) return value;
  List items;
  for (const Value& item : value.list()) items.push_back(known(item));
  return Value(std::move(items));
}

void TapeTarget::op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  List contents;
  for (const Value& operand : operands) contents.push_back(known(operand));
  const List results = compute(*call.op, contents, type);
  ListTarget::op(frame, call, operands, type, made);
  for (std::size_t slot = 0; slot < results.size(); ++slot)
    if (!made[slot].is_array()) contents_.push_back(results[slot].array());
}

Tape TapeTarget::finish(const std::vector<Value>& outputs) && {
  Tape tape;
  for (std::size_t i = 0; i < inputs(); ++i) tape.list.inputs.push_back({"x" + std::to_string(i), Privilege::in, {}});
  for (std::size_t k = 0; k < outputs.size(); ++k) tape.list.outputs.push_back({"y" + std::to_string(k), {}, false});
  ListTarget::finish(tape.list, outputs);
  const auto made = contents_.begin() + static_cast<std::ptrdiff_t>(inputs());
  tape.values.assign(contents_.begin(), made);
  for (const Value& constant : tape.list.constants) tape.values.push_back(constant.array());
  tape.values.insert(tape.values.end(), made, contents_.end());
  return tape;
}

std::vector<Array> run_list(const OpList& list, std::vector<Array> inputs) {
  std::vector<Array> values = std::move(inputs);
  for (const Value& constant : list.constants) values.push_back(constant.array());
  values.resize(list.types.size());
  for (const OpList::Line& line : list.lines) {
    std::vector<Array> in;
    for (ValueId value : line.in) in.push_back(values[value.index()]);
    std::vector<Array> out = compute(instance(list, line), in);
    for (std::size_t slot = 0; slot < out.size(); ++slot) values[line.out[slot].index()] = std::move(out[slot]);
  }
  std::vector<Array> outputs;
  for (const OpList::Output& output : list.outputs) outputs.push_back(values[output.value.index()]);
  return outputs;
}

}  // namespace taskspec
