// What is known before a program runs leaves no node in its graph: Call::folded. The checker marks each call as it is
// made; for calls that were read from a file it is worked out again, as a file may say anything.
//
//   fill(f32[n, width], 1.0)     // folded, if n is a number and width a let that is one
#pragma once
#include "ir/program/program.hpp"

namespace taskspec {

// Of one call whose operands are marked. Of a global only its let can tell.
bool is_folded(const Function& function, const Call& call);

// Marks the calls of a function that is well formed; the top levels that it reads are marked already.
void mark_folded(Program& program, FunctionId id);
// Of all functions, those of modules first.
void mark_folded(Program& program);

}  // namespace taskspec
