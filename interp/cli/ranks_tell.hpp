// Which of several ranks tells what ended a run: one of them.
#pragma once
#include "interp/cli/options.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::cli {

// The first one, unless another one failed alone, which the first then does not know of. Who started the run has
// nothing to add.
Diags to_tell(const Options& options, const Diags& diags);

}  // namespace taskspec::cli
