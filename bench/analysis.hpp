// `taskspec bench analysis`: what shards spend on finding out what depends on what.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// The analysis engine of one shard alone, on one core that it is pinned to, with an executor that looks at what it is
// told: CPU per point, untraced and replayed, beside StarPU, which finds the same dependences from data; per operation
// of the coarse stage for launches of 2^4 to 2^20 points; per own point of the fine stage for 2^6 to 2^14; what the
// levels of the call hash add; what recording 10^4 points takes. Gives the exit code: 1 beyond a bar.
int analysis(const Settings& settings);

}  // namespace taskspec::bench
