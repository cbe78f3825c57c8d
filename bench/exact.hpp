// The exact engine beside plain loops, oneDNN's bytes and the rate of its own inner loop: `taskspec bench exact`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int exact(const Settings& settings);

}  // namespace taskspec::bench
