// `taskspec bench channels`: what it costs that the host program and the graph program talk to each other.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// The queues by themselves, beside a mutex with two conditions and oneTBB's bounded queue; then whole programs.
int channels(const Settings& settings);

}  // namespace taskspec::bench
