// Nets of real size on a many-core chip: how long the mapper takes, and what comes out. The bar is 5 s a net, by CPU
// time.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int nets(const Settings& settings);

}  // namespace taskspec::bench
