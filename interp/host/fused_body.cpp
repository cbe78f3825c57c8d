#include "interp/host/fused_body.hpp"

namespace taskspec {

std::uint32_t FusedBody::value(const ArrayType& type) {
  values.push_back(type);
  return static_cast<std::uint32_t>(values.size() - 1);
}

std::uint32_t FusedBody::input(const ArrayType& type, std::uint32_t bytes) {
  inputs.push_back({value(type), bytes});
  return inputs.back().value;
}

std::vector<std::uint32_t> FusedBody::append(const OpList& list, std::span<const std::uint32_t> given) {
  if (given.size() != list.inputs.size()) bug("the op list of a task has another number of inputs than its node");
  std::vector<std::uint32_t> here(given.begin(), given.end());  // value of the list -> value of the body
  for (const Value& constant : list.constants) {
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
    ops.push_back({instance(list, line), mapped(line.in), mapped(line.out), tasks});
  ++tasks;
  std::vector<std::uint32_t> results;
  for (const OpList::Output& output : list.outputs) results.push_back(here[output.value.index()]);
  return results;
}

std::vector<std::uint32_t> FusedBody::append(OpInstance op, std::span<const std::uint32_t> given) {
  std::vector<std::uint32_t> results;
  for (const ArrayType& type : op.out) results.push_back(value(type));
  ops.push_back({std::move(op), {given.begin(), given.end()}, results, tasks++});
  return results;
}

}  // namespace taskspec
