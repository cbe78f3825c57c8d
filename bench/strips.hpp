// `taskspec bench strips`: bodies of tasks over views beside the same loops in C++.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int strips(const Settings& settings);

}  // namespace taskspec::bench
