// Simulating many-core chips.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int chip(const Settings& settings);

}  // namespace taskspec::bench
