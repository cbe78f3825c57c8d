// The network on the chip: messages per second under each of its models.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// 10^6 uniform messages on 16 x 10 cores, or those of settings.file: traffic JSON.
int noc(const Settings& settings);

}  // namespace taskspec::bench
