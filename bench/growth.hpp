// What the n-th entry of a growing program costs, beside the first ones: of a prompt, of a C++ host program, and of
// long files. Part of `taskspec bench front`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

void growth(const Settings& settings);

}  // namespace taskspec::bench
