// Changing a mapping by hand: what an action on LeNet takes to answer with the new estimate. The bar is 50 ms.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int mapping(const Settings& settings);

}  // namespace taskspec::bench
