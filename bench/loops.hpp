// `taskspec bench loops`: long loops of one program, in time and memory per turn.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int loops(const Settings& settings);

}  // namespace taskspec::bench
