// The text of a Program, as `graph --stage program` shows it: every function with its numbered calls.
//
//   task Scale.apply(agent k: float, x: f32[N]) -> (y: f32[N])
//     %0 = parameter k : float
//     %1 = parameter x : f32[N]
//     %2 = op mul(%0, %1) : f32[N]
//     write y = %2
#pragma once
#include <string>

#include "ir/program/program.hpp"

namespace taskspec {

std::string program_text(const Program& program);
std::string function_text(const Program& program, FunctionId id);

}  // namespace taskspec
