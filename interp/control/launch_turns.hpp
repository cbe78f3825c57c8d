// Loops whose turns are launches and the numbers that these are given: once a turn has launched what is expected again
// (LaunchBatch), the next ones need their numbers alone.
//
//   for t in 0..n {                                          again: %7 mul(%t, %2), launch a,
//     launch a(p[i], 2 * t) for i in 0..4                           %9 add(%t, %1), launch b
//     launch b(q[i], p[i], t + 1) for i in 0..4
//   }
//
// What stands still, the pieces, the domain, how points are distributed, is not looked at again. So nothing may stand
// in such a turn that could change them: no other calls, no control flow, no variables but those of numbers.
#pragma once
#include "interp/control/facts.hpp"

namespace taskspec {

struct LaunchTurns {
  std::int32_t launches = 0;  // of one; 0: turns are something else
  std::vector<CallId> calls;  // that are made in the next ones: these, and what works out their numbers
};

LaunchTurns launch_turns(const CompactSource& source, std::span<const CallId> body);

// Of a launch, what its parameters that are no views are given.
std::vector<CallId> numbers_of(const Program& program, const Call& launch);

}  // namespace taskspec
