// The C++ functions that `define_extern` put behind `extern` tasks of texts, for all programs of this process.
#pragma once
#include "interp/control/natives.hpp"

namespace taskspec::dsl::detail {

Natives& extern_bodies();

}  // namespace taskspec::dsl::detail
