// What a call that `run .. on host(time_steps: T)` repeats is given in each step.
//
//   run g(x) on host(time_steps: 16)      ->      g(x[time step]) for a parameter f32[4] and x: f32[16, 4]
#pragma once
#include "frontend/check/match.hpp"

namespace taskspec::checking {

// A tensor with one axis more than the parameter gives one slice per step; every other value stays as it is. `args` are
// those of the call: other calls inside of it repeat nothing. A first extent that is not the number of steps is an
// error.
Term slice_of_step(Body& body, Match& match, std::span<const ast::Arg> args, const Term& value, const Type& wanted,
                   const Expected& expected);

// What a run gives that repeats its call: an invocation with an extent more in each output.
Type stacked(const Type& outputs, const Dim& steps);

}  // namespace taskspec::checking
