// `taskspec bench build`: what a newcomer's first run compiles.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// Builds the tool in a folder of its own, out of the tree that settings.tool was built in and with no compiler cache,
// and compiles one fixed file of standard headers before and after that. Prints wall and CPU seconds, the ratio of the
// CPU times, which depends little on the machine, and the sizes of what a user gets. Takes minutes; gives the exit
// code: 2 when there is no tree, 3 when the build fails.
int build(const Settings& settings);

}  // namespace taskspec::bench
