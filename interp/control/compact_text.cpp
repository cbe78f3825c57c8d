#include <fmt/format.h>

#include "interp/control/compact.hpp"
#include "interp/control/facts.hpp"

namespace taskspec {

namespace {

using Opcode = Instruction::Kind;

constexpr std::string_view names[] = {
    "leave",
#define TASKSPEC_INSTRUCTION(name, ...) #name,
#include "interp/control/compact.def"
};

constexpr std::string_view flows[] = {"next", "break", "continue", "return"};

bool goes_elsewhere(const Instruction& instruction) {
  const bool compares = instruction.kind >= Opcode::unless_lt_ints;
  return compares || (instruction.kind >= Opcode::node && instruction.kind <= Opcode::next_turn &&
                      instruction.kind != Opcode::decide);
}

// How many operands in front of `c` it has.
int operands_of(Opcode kind) {
  switch (kind) {
    case Opcode::step:
    case Opcode::guards:
    case Opcode::node:
    case Opcode::jump:
    case Opcode::turn:
    case Opcode::turns_again:
    case Opcode::launch_again:
    case Opcode::poll_again:
      return 0;
    case Opcode::branch:
    case Opcode::until:
    case Opcode::is_set:
    case Opcode::release:
    case Opcode::call:
    case Opcode::give:
      return 1;
    default:
      return 2;
  }
}

class Listing {
 public:
  Listing(const Compact& code, const CompactSource& source) : code_(code), source_(source) {}

  std::string line(std::size_t at) const {
    const Instruction& it = code_.instructions[at];
    std::string line = fmt::format("{:3}  {}", at, names[static_cast<std::size_t>(it.kind)]);
    if (it.kind == Opcode::leave) return line + fmt::format(" {}\n", flows[static_cast<std::size_t>(it.a)]);
    const int operands = operands_of(it.kind);
    if (operands > 0) line += " " + operand(it.a);
    if (operands > 1 && (it.b >= 0 || it.kind != Opcode::next_turn)) line += ", " + operand(it.b);
    if (goes_elsewhere(it))
      line += fmt::format(" -> {}", static_cast<std::int64_t>(at) + it.c);
    else if (it.kind > Opcode::release && operands > 1 && it.c != 0)
      line += ", " + operand(it.c);
    if (it.kind == Opcode::call) line += call(code_.calls[static_cast<std::size_t>(it.b)]);
    const Call& call = source_.function[it.call];
    if (it.kind == Opcode::step) line += fmt::format(" %{} {}", it.call.value, call.form->word);
    return line + "\n";
  }

 private:
  std::string operand(std::int32_t offset) const {
    constexpr auto bytes = static_cast<std::int32_t>(sizeof(Value));
    if (offset >= 0) return fmt::format("r{}", offset / bytes);
    return print(source_.facts.registers.constants[static_cast<std::size_t>(~offset / bytes)]);
  }
  std::string call(const PlannedCall& planned) const {
    std::string text = " = " + source_.program.display_name(planned.callee) + "(";
    for (std::size_t i = 0; i < planned.arguments.size(); ++i)
      text += (i ? ", " : "") + operand(planned.arguments[i].from);
    return text + ")";
  }

  const Compact& code_;
  const CompactSource& source_;
};

}  // namespace

std::string text(const Compact& code, const CompactSource& source) {
  const Listing listing(code, source);
  std::string text;
  for (std::size_t at = 0; at < code.instructions.size(); ++at) text += listing.line(at);
  return text;
}

}  // namespace taskspec
