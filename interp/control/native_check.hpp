// What a C++ function did with the tensors of a call: nothing that is only read was written, and no element of an
// output was left out.
//
//   run_checked(call, pass, place, [&](const NativeCall& checked) { body.forward(checked); });
#pragma once
#include "interp/control/natives.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec {

// Throws Error: E1401, E1006, with the names of task and slot. Calls `run` a second time only to tell an element that
// was left alone from one that was given just what lay there.
void run_checked(const NativeCall& call, NativePass pass, Span place, FunctionRef<void(const NativeCall&)> run);

}  // namespace taskspec
