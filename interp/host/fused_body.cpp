#include "interp/host/fused_body.hpp"

#include "interp/host/number_kernel.hpp"

namespace taskspec {

std::uint32_t FusedBody::value(const ArrayType& type) {
  values.push_back(type);
  return static_cast<std::uint32_t>(values.size() - 1);
}

std::uint32_t FusedBody::input(const ArrayType& type, std::uint32_t bytes) {
  inputs.push_back({value(type), bytes});
  return inputs.back().value;
}

std::uint32_t FusedBody::number(const Value& number, const Type& type, std::span<const std::uint32_t> inputs) {
  FusedOp op;
  std::vector<Precision> given;
  const std::vector<std::uint32_t> reads = inputs_of(number);
  for (std::uint32_t input : reads) {
    op.in.push_back(inputs[input]);
    given.push_back(values[op.in.back()].precision);
  }
  op.number = number_kernel(number, reads, std::move(given), type.precision);
  op.out = {value(concrete(type))};
  op.task = tasks;
  ops.insert(ops.begin() + numbers++, op);
  return op.out[0];
}

std::vector<std::uint32_t> FusedBody::append(const OpList& list, std::span<const std::uint32_t> given) {
  if (given.size() != list.inputs.size()) bug("the op list of a task has another number of inputs than its node");
  std::vector<std::uint32_t> here(given.begin(), given.end());  // value of the list -> value of the body
  for (const Value& constant : list.constants) {
    if (!constant.is_array()) {
      here.push_back(number(constant, list.types[here.size()], given));
      continue;
    }
    here.push_back(value(constant.array().type()));
    constants.emplace_back(here.back(), constant.array());
  }
  for (std::size_t i = here.size(); i < list.types.size(); ++i) here.push_back(value(concrete(list.types[i])));
  auto mapped = [&](const std::vector<ValueId>& of) {
    std::vector<std::uint32_t> result;
    result.reserve(of.size());
    for (ValueId v : of) result.push_back(here[v.index()]);
    return result;
  };
  for (const OpList::Line& line : list.lines)
    ops.push_back({.instance = instance(list, line),
                   .in = mapped(line.in),
                   .out = mapped(line.out),
                   .task = tasks,
                   .span = line.site.valid() ? line.site : line.span,
                   .in_task = line.task});
  ++tasks;
  std::vector<std::uint32_t> results;
  for (const OpList::Output& output : list.outputs) results.push_back(here[output.value.index()]);
  return results;
}

std::vector<std::uint32_t> FusedBody::append(OpInstance op, std::span<const std::uint32_t> given) {
  std::vector<std::uint32_t> results;
  for (const ArrayType& type : op.out) results.push_back(value(type));
  ops.push_back({.instance = std::move(op), .in = {given.begin(), given.end()}, .out = results, .task = tasks++});
  return results;
}

}  // namespace taskspec
