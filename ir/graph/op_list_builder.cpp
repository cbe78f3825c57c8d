#include "ir/graph/op_list_builder.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"
#include "ir/graph/task_graph.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

// A host number that kernels read as data: what precision it has there.
std::optional<Precision> data_precision(const OpDef& op, std::size_t position, const Value& value,
                                        std::span<const Type> types) {
  const Operand& operand = operand_at(op, position);
  if (operand.at_run && value.is_integer()) return Precision::i64;
  if (operand.kind != OperandKind::tensor || !(value.is_number() || value.is_bool())) return std::nullopt;
  return scalar_precision(types, position);
}

}  // namespace

Type host_type(const Value& value) {
  if (value.is_integer()) return Type::Kind::integer;
  if (value.is_real()) return Type::Kind::real;
  if (value.is_bool()) return Type::Kind::boolean;
  if (value.is_string()) return Type::Kind::string;
  if (value.is_type()) return value.type();
  const List* items = value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
  if (!items) return Type::Kind::none;
  std::vector<Type> parts;
  for (const Value& item : *items) parts.push_back(host_type(item));
  return Type::tuple(std::move(parts));
}

ValueId OpListBuilder::add(Kind kind, std::size_t position, Type type) {
  values_.push_back({kind, static_cast<std::uint32_t>(position), std::move(type)});
  return ValueId(values_.size() - 1);
}

ValueId OpListBuilder::input(OpList::Input input, Type type) {
  inputs_.push_back(std::move(input));
  return add(Kind::input, inputs_.size() - 1, std::move(type));
}

ValueId OpListBuilder::constant(Value value, Type type) {
  constants_.push_back(std::move(value));
  return add(Kind::constant, constants_.size() - 1, std::move(type));
}

std::vector<ValueId> OpListBuilder::emit(const OpDef& op, std::span<const Operand> operands, const Origin& origin) {
  std::vector<Operand> given(operands.begin(), operands.end());
  for (std::size_t i = given.size(); i < op.operands.size() && !op.operands[i].variadic; ++i)
    given.emplace_back(op.operands[i].standard.value());
  std::vector<Type> types;
  std::vector<Value> known;  // what the rule may look at: no contents of tensors
  for (const Operand& operand : given) {
    auto* tensor = std::get_if<ValueId>(&operand);
    types.push_back(tensor ? type(*tensor) : host_type(std::get<Value>(operand)));
    known.push_back(tensor ? Value() : std::get<Value>(operand));
  }
  const Type ruled = infer(op, types, known, origin.span);
  OpInstance made{&op, {}, {}, {}};
  std::vector<ValueId> in;
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto* tensor = std::get_if<ValueId>(&given[i]);
    std::optional<Precision> data = tensor ? std::nullopt : data_precision(op, i, known[i], types);
    if (tensor) in.push_back(*tensor);
    if (data) {
      Array number = scalar_array(known[i], *data);
      const Type type = number.type().type();
      in.push_back(constant(Value(std::move(number)), type));
    }
    made.attributes.push_back(data ? Value() : known[i]);
  }
  for (const Type& output : output_types(ruled)) made.out.push_back(concrete(output));
  return append(made, in, origin);
}

std::vector<ValueId> OpListBuilder::append(const OpInstance& op, std::span<const ValueId> inputs,
                                           const Origin& origin) {
  OpList::Line line{op.op,           {inputs.begin(), inputs.end()},
                    op.attributes,   {},
                    origin.function, origin.call,
                    origin.span,     origin.site,
                    origin.task};
  for (const ArrayType& type : op.out) line.out.push_back(add(Kind::line, lines_.size(), type.type()));
  lines_.push_back(std::move(line));
  return lines_.back().out;
}

Value OpListBuilder::number(const Value& of_other, FunctionRef<ValueId(std::uint32_t)> input) const {
  auto* open = of_other.as<GraphScalar>();
  if (!open) return of_other;
  auto made = std::make_shared<GraphScalar>(*open);
  if (open->input != UINT32_MAX) {
    const Made& value = values_[input(open->input).index()];
    if (value.kind != Kind::input) bug("a number that decides what a constant is, is no input of the list");
    made->input = value.position;
  }
  for (Value& operand : made->operands) operand = number(operand, input);
  return Value(std::static_pointer_cast<Object>(std::move(made)));
}

std::vector<ValueId> OpListBuilder::append(const OpList& list, std::span<const ValueId> inputs,
                                           const std::shared_ptr<const std::string>& task) {
  std::vector<ValueId> here(inputs.begin(), inputs.end());
  for (const Value& value : list.constants)
    here.push_back(constant(number(value, [&](std::uint32_t i) { return inputs[i]; }), list.types[here.size()]));
  here.resize(list.types.size());
  for (const OpList::Line& line : list.lines) {
    OpList::Line copy = line;
    if (task) copy.task = task;
    for (ValueId& value : copy.in) value = here[value.index()];
    for (ValueId& value : copy.out) value = here[value.index()] = add(Kind::line, lines_.size(), list.type(value));
    lines_.push_back(std::move(copy));
  }
  std::vector<ValueId> outputs;
  for (const OpList::Output& output : list.outputs) outputs.push_back(here[output.value.index()]);
  return outputs;
}

// By value: an output of the list depends on it.
std::vector<bool> OpListBuilder::needed(const std::vector<Output>& outputs) const {
  std::vector<bool> needed(values_.size());
  for (const Output& output : outputs) needed[output.value.index()] = true;
  for (std::size_t i = lines_.size(); i-- > 0;) {
    const OpList::Line& line = lines_[i];
    if (std::ranges::none_of(line.out, [&](ValueId value) { return needed[value.index()]; })) continue;
    for (ValueId value : line.out) needed[value.index()] = true;
    for (ValueId value : line.in) needed[value.index()] = true;
  }
  return needed;
}

OpList OpListBuilder::finish(FunctionId task, std::string name, const std::vector<Output>& outputs) && {
  const std::vector<bool> stays = needed(outputs);
  OpList list;
  list.task = task;
  list.name = std::move(name);
  std::vector<ValueId> place(values_.size());
  auto take = [&](Kind kind) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].kind != kind || !(stays[i] || kind == Kind::input)) continue;
      place[i] = ValueId(list.types.size());
      if (kind == Kind::constant) list.constants.push_back(std::move(constants_[values_[i].position]));
      list.types.push_back(std::move(values_[i].type));
    }
  };
  take(Kind::input);
  take(Kind::constant);
  take(Kind::line);
  list.inputs = std::move(inputs_);
  for (OpList::Line& line : lines_) {
    if (!stays[line.out[0].index()]) continue;
    for (ValueId& value : line.in) value = place[value.index()];
    for (ValueId& value : line.out) value = place[value.index()];
    list.lines.push_back(std::move(line));
  }
  for (const Output& output : outputs)
    list.outputs.push_back({output.name, place[output.value.index()], output.version});
  return list;
}

}  // namespace taskspec
