// The granularity of tasks on shards at which half of the time is work: METG(50%) of Task Bench's patterns from a text,
// on threads and on ranks, beside loops written by hand over MPI and one analysis for all workers.
//
//   taskspec bench metg --shards 1,2          // -n 64: tasks of at most that many turns of the kernel, for a short
//   look
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

int metg_shards(const Settings& settings);

}  // namespace taskspec::bench
