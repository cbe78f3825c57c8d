// Host integers that types name: of `f32[n, 2]` the call of the same function that is `n`.
#pragma once
#include "ir/base/function_ref.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

// In the type and the guards of a call.
void for_each_host_symbol(const Call& call, FunctionRef<void(CallId)> visit);
// In a signature.
void for_each_host_symbol(const Function& function, FunctionRef<void(CallId)> visit);

}  // namespace taskspec
