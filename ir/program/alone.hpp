// Which dimensions of a signature an argument says straight away.
//
//   task t(in x: f32[N], in y: f32[2 * M]) ...        // has_alone(t, N), but not has_alone(t, M)
#pragma once
#include "ir/program/program.hpp"

namespace taskspec {

// Whether a parameter has the dimension alone: then that argument says what it is. Otherwise the first that has it, as
// f32[2 * M], does, with what is known from the parameters before it (ir/types/solve.hpp).
bool has_alone(const Function& function, const Symbol& dimension);

}  // namespace taskspec
