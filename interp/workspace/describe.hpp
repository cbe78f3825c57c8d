// What a name stands for, in words: a declaration of the program, a value, else the record of an op or builtin.
#pragma once
#include "interp/live_program.hpp"

namespace taskspec {

std::optional<std::string> description(LiveProgram& live, std::string_view name);

// "task Scale.apply(in x: f32[N]) -> (y: f32[N])"
std::string signature_text(const Program& program, FunctionId function);

}  // namespace taskspec
