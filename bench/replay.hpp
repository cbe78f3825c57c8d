// `taskspec bench replay`: what a task costs when a compiled plan runs again.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// A chain, a fan and a random DAG of settings.tasks empty tasks, run again and again on settings.threads
// workers: ours (as it comes, and with every step handed to the workers), oneTBB's flow graph and the serial
// floor, interleaved. Prints ns per task, the ratios to
// oneTBB and to the bars, and bytes per task. Gives the exit code: 1 when somebody lost a task.
int replay(const Settings& settings);

}  // namespace taskspec::bench
