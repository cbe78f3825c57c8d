// The tables of everything that this build has: ops and builtins. The one place besides the command line that knows
// them all; whoever embeds taskspec comes through here.
#pragma once
#include "interp/toolbox.hpp"

namespace taskspec {

Toolbox standard_toolbox();

}  // namespace taskspec
