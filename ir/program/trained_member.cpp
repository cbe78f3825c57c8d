#include "ir/program/trained_member.hpp"

namespace taskspec {

std::optional<FunctionId> trained_member(const Program& program, std::span<const FunctionId> members) {
  std::optional<FunctionId> only;
  std::size_t count = 0;
  for (FunctionId member : members) {
    if (program[member].kind == FunctionKind::fn) continue;
    if (program[member].name == "forward") return member;
    only = member;
    ++count;
  }
  return count == 1 ? only : std::nullopt;
}

}  // namespace taskspec
