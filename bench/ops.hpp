// Every op's rate beside what the machine can do at most and beside PyTorch: `taskspec bench ops`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int ops(const Settings& settings);

}  // namespace taskspec::bench
