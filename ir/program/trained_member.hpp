// Which member of an agent a training calls: the task or graph called forward, else the only one.
#pragma once
#include <optional>
#include <span>

#include "ir/program/program.hpp"

namespace taskspec {

// Among the functions of one agent; nothing where there are none or several, and none is called forward.
std::optional<FunctionId> trained_member(const Program& program, std::span<const FunctionId> members);

}  // namespace taskspec
