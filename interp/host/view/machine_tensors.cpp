// Ops on whole tensors in a body: as outside of one, by the rule and the kernel of their records.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/host/view/machine.hpp"
#include "ir/graph/op_list_builder.hpp"
#include "ir/lowering/evaluate.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

// Of somebody who keeps them as long as they are looked at.
Array lent(ArrayType type, const std::byte* bytes) {
  return Array::wrap(std::move(type),
                     std::shared_ptr<std::byte>(std::shared_ptr<void>(), const_cast<std::byte*>(bytes)));
}

// What is given for the operands of one op, as its rule sees it.
struct Given {
  std::vector<Type> types;
  std::vector<Value> known;                // none: tensors
  std::vector<std::vector<Array>> arrays;  // by operand

  void host(Value value, const Type& list = {}) {
    types.push_back(value.is_list() ? list : host_type(value));
    known.push_back(std::move(value));
    arrays.emplace_back();
  }
  void tensors(std::vector<Array> given, bool is_list) {
    std::vector<Type> parts;
    for (const Array& array : given) parts.push_back(array.type().type());
    types.push_back(is_list ? Type::tuple(std::move(parts)) : parts[0]);
    known.emplace_back();
    arrays.push_back(std::move(given));
  }
};

Array evaluated(const OpDef& op, Given given, Span span) {
  const Type ruled = infer(op, given.types, given.known, span);
  const std::span<const Type> outputs = output_types(ruled);
  OpInstance call{&op, {}, {}, {concrete(outputs[0])}};
  const bool some = std::ranges::any_of(given.types, [](const Type& type) { return type.is_tensor(); });
  std::vector<Array> tensors;
  for (std::size_t k = 0; k < given.types.size(); ++k) {
    const Value& value = given.known[k];
    const bool number = operand_at(op, k).kind == OperandKind::tensor && (value.is_number() || value.is_bool());
    if (number) given.arrays[k] = {scalar_array(value, some ? scalar_precision(given.types, k) : outputs[0].precision)};
    call.attributes.push_back(number ? Value() : value);
    for (Array& array : given.arrays[k]) tensors.push_back(std::move(array));
  }
  for (const Array& array : tensors) call.in.push_back(array.type());
  return evaluate(call, tensors)[0];
}

}  // namespace

LaneFault fault_of(const Error& error, Span span) {
  const Diag& first = error.diags().items().front();
  return {{first.code, first.message, span}};
}

void LaneMachine::make_tensor(const LaneInstruction& i) {
  const ViewMemory& of = view(i.access);
  ArrayType type{program_.registers[i.out].precision, {of.points->size()}};
  if (of.root->rank > 1) {
    if (!of.points->is_rect())
      throw LaneFault{{"E5004",
                       fmt::format("{} has scattered points, which are no rows of a tensor, in task {}",
                                   code_.views[i.access].name, code_.task),
                       i.span}};
    type.extents.clear();
    for (std::size_t axis = 0; axis < of.root->rank; ++axis) type.extents.push_back(of.points->rect().extent(axis));
  }
  try {
    tensors_[i.out] = Array::make(std::move(type));
  } catch (const Error& error) {
    throw fault_of(error, i.span);
  }
}

// As the op sees it; one element has this rank.
Array LaneMachine::tensor(ViewValue value, std::size_t rank) const {
  const ViewCode::Item& item = code_[value];
  if (item.kind == ViewCode::Item::Kind::tensor) return tensors_[value.index()];
  if (item.kind == ViewCode::Item::Kind::whole) return lent(item.type, run_.inputs[value.index()]);
  ArrayType one{item.precision, {}};
  for (std::size_t axis = 0; axis < rank; ++axis) one.extents.push_back(1);
  return lent(std::move(one), at_[value.value]);
}

void LaneMachine::tensor_op(const LaneInstruction& i) {
  look_for_interrupt();
  Given given;
  for (const ViewOperand& operand : i.step->operands) {
    const std::vector<ViewValue>& values = operand.values;
    if (!operand.extents.empty()) {
      given.host(Value(operand.constant.type().substitute([&](const Symbol& symbol) -> std::optional<Dim> {
        for (const auto& [id, extent] : operand.extents)
          if (id == symbol->id) return Dim(host_value(extent.value, 0).integer());
        return std::nullopt;
      })));
    } else if (values.empty() && !operand.is_list) {
      given.host(operand.constant, operand.type);
    } else if (!operand.is_list && code_[values[0]].kind == ViewCode::Item::Kind::host) {
      given.host(host_value(values[0].value, 0));
    } else {
      std::vector<Array> arrays;
      for (std::size_t k = 0; k < values.size(); ++k) arrays.push_back(tensor(values[k], operand.ranks[k]));
      given.tensors(std::move(arrays), operand.is_list);
    }
  }
  try {
    Array made = evaluated(*i.op, std::move(given), i.span);
    if (code_.values[i.out].kind == ViewCode::Item::Kind::tensor)
      tensors_[i.out] = std::move(made);
    else
      std::memcpy(at_[i.out], made.raw(), program_.registers[i.out].width);
  } catch (const Error& error) {
    throw fault_of(error, i.span);
  }
}

void LaneMachine::put_tensor(std::size_t output) const {
  const Array& made = tensors_[code_.outputs[output].value.index()];
  if (output < run_.output_elements.size() &&
      static_cast<std::int64_t>(run_.output_elements[output]) != made.elements())
    throw LaneFault{{"E5004", fmt::format("an output of {} elements is {}, in task {}", run_.output_elements[output],
                                          made.type().text(), code_.task)}};
  std::memcpy(run_.outputs[output], made.raw(), made.bytes());
}

}  // namespace taskspec
