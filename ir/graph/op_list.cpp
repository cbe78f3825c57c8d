#include "ir/graph/op_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"

namespace taskspec {

OpInstance instance(const OpList& list, const OpList::Line& line) {
  OpInstance made{line.op, {}, line.attributes, {}};
  made.in.reserve(line.in.size());
  for (ValueId value : line.in) made.in.push_back(concrete(list.type(value)));
  for (ValueId value : line.out) made.out.push_back(concrete(list.type(value)));
  return made;
}

namespace {

std::string name_of(ValueId value) { return fmt::format("%{}", value.value); }

std::string names_of(const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId value : values) names.push_back(name_of(value));
  return joined(names, ", ");
}

std::string_view word_of(const OpList::Input& input) {
  if (input.slot) return slot_kind_words[static_cast<std::size_t>(*input.slot)];
  return input.privilege == Privilege::inout ? "place" : "input";
}

std::string text_of(const Value& constant) {
  constexpr std::int64_t most = 8;
  const bool is_long = constant.is_array() && constant.array().elements() > most;
  return is_long ? fmt::format("of {} elements", constant.array().elements()) : print(constant);
}

// "(%0, %1, axis: 0)": tensors, then what the host gave and is not the default.
std::string operands_of(const OpList::Line& line) {
  std::vector<std::string> parts;
  for (ValueId value : line.in) parts.push_back(name_of(value));
  for (std::size_t i = 0; i < line.attributes.size(); ++i) {
    const Operand& operand = operand_at(*line.op, i);
    const Value& value = line.attributes[i];
    if (value.is_none() || identical(value, operand.standard.value())) continue;
    parts.push_back(i >= line.op->operands.size() ? print(value) : fmt::format("{}: {}", operand.name, print(value)));
  }
  return "(" + joined(parts, ", ") + ")";
}

// "4:7", and whose call that is when it stands in a function that the task calls.
std::string place_of(const Program& program, const OpList& list, const OpList::Line& line) {
  std::string text;
  if (line.span.valid()) {
    const Position at = program.sources[line.span.source].position(line.span.begin);
    text = fmt::format("{}:{}", at.line, at.column);
  }
  if (line.function != list.task) text += " in " + program.display_name(line.function);
  return text;
}

std::string line_text(const Program& program, const OpList& list, const OpList::Line& line) {
  std::vector<std::string> types;
  for (ValueId value : line.out) types.push_back(list.type(value).text());
  const std::string made =
      fmt::format("  {} = {}{} : {}", names_of(line.out), line.op->name, operands_of(line), joined(types, ", "));
  return fmt::format("{:<58}  {}\n", made, place_of(program, list, line));
}

}  // namespace

std::string op_list_text(const Program& program, const OpList& list) {
  std::string text = fmt::format("{}: {} op{}\n", list.name, list.lines.size(), list.lines.size() == 1 ? "" : "s");
  std::size_t value = 0;
  for (const OpList::Input& input : list.inputs) {
    text += fmt::format("  %{} = {} {} : {}\n", value, word_of(input), input.name, list.types[value].text());
    ++value;
  }
  for (const Value& constant : list.constants) {
    const char* word = constant.is_array() ? "constant" : "number";
    text += fmt::format("  %{} = {} {} : {}\n", value, word, text_of(constant), list.types[value].text());
    ++value;
  }
  for (const OpList::Line& line : list.lines) text += line_text(program, list, line);
  for (const OpList::Output& output : list.outputs)
    text += fmt::format("  {} = {}\n", output.name, name_of(output.value));
  return text;
}

}  // namespace taskspec
