#include "ir/program/program.hpp"

namespace taskspec {

Call::Call(const Call&) = default;
Call::Call(Call&&) noexcept = default;
Call& Call::operator=(const Call&) = default;
Call& Call::operator=(Call&&) noexcept = default;
Call::~Call() = default;

Function::Function(const Function&) = default;
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(const Function&) = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

CallId decision_of(const Call& call) {
  for (std::size_t i = 0; i < call.blocks.size() && i < call.form->block_count; ++i)
    if (call.form->blocks()[i].decides) return call.blocks[i].result;
  return call.in.empty() ? CallId() : call.in[0];
}

std::string Program::display_name(FunctionId id) const {
  const Function& function = (*this)[id];
  if (function.agent.valid() && function.name.empty()) return (*this)[function.agent].name;  // of an `ir` declaration
  return function.agent.valid() ? (*this)[function.agent].name + "." + function.name : function.name;
}

std::string slot_text(const Program& program, const Slot& slot) {
  std::string type = slot.type.text();
  if (slot.type.is(Type::Kind::agent)) type = program[slot.type.agent].name;
  if (slot.type.is(Type::Kind::list)) type = "[" + program[slot.type.parts[0].agent].name + "]";
  return std::string(slot_kind_words[static_cast<std::size_t>(slot.kind)]) + " " + slot.name + ": " + type;
}

}  // namespace taskspec
