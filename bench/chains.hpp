// `taskspec bench chains`: the cost of getting random tasks ready to run.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// Builds, aggregates and plans settings.tasks empty tasks and a tenth of them, and prints the table: ns and bytes per
// task, and the ratio of the times, which tells that the work is linear. Gives the exit code.
int chains(const Settings& settings);

}  // namespace taskspec::bench
