// What types name: of `f32[n, 2]` the call of the same function that is the host integer `n`; quotients.
#pragma once
#include "ir/base/function_ref.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

// In the type and the guards of a call.
void for_each_host_symbol(const Call& call, FunctionRef<void(CallId)> visit);
// In a signature.
void for_each_host_symbol(const Function& function, FunctionRef<void(CallId)> visit);

// The quotients in a signature, as H / 2 in f32[C, H / 2]: each call looks whether they leave a rest.
void for_each_quotient(const Function& function, FunctionRef<void(const Dim&)> visit);

}  // namespace taskspec
