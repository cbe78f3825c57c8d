// The check of op lists, written from their definition.
#include <fmt/format.h>

#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

// Made before they are read, each once and in order.
std::string check_line(const OpList& list, const OpList::Line& line, std::size_t& made) {
  if (!line.op || line.out.empty()) return "does nothing";
  if (list.task.valid() && !(line.function.valid() && line.call.valid())) return "stands nowhere";
  for (ValueId value : line.in)
    if (!value.valid() || value.index() >= made) return "reads a value that is not there yet";
  for (ValueId value : line.out)
    if (value.index() != made++ || made > list.types.size()) return "makes values out of order";
  return "";
}

}  // namespace

std::string verify_op_list(const OpList& list) {
  if (list.first_made() > list.types.size()) return list.name + " has inputs or constants without a type";
  for (const Type& type : list.types)
    if (!type.is_tensor()) return fmt::format("a value of {} is {}, no tensor", list.name, type.text());
  for (std::size_t i = 0; i < list.constants.size(); ++i) {
    const Value& constant = list.constants[i];
    const Type& type = list.types[list.inputs.size() + i];
    if (constant.is_array() ? constant.array().type().type() != type : !constant.is_object())
      return fmt::format("constant {} of {} is not what its type says", i, list.name);
  }
  std::size_t made = list.first_made();
  for (std::size_t i = 0; i < list.lines.size(); ++i)
    if (std::string wrong = check_line(list, list.lines[i], made); !wrong.empty())
      return fmt::format("line {} of {} {}", i, list.name, wrong);
  if (made != list.types.size()) return list.name + " has values that nobody makes";
  for (const OpList::Output& output : list.outputs)
    if (!output.value.valid() || output.value.index() >= made)
      return fmt::format("output {} of {} is nothing", output.name, list.name);
  return "";
}

}  // namespace taskspec
