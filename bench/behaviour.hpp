// Frames out of the memories of cores: multiply-adds per second of one thread, packets, moves and checks included,
// beside a plain loop that cuts after every addition. The bar is 2.2 G/s, twenty times what the reference program
// makes.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int behaviour(const Settings& settings);

}  // namespace taskspec::bench
