// `taskspec bench regions`: what a point of a launch costs.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

// Launches of settings.tasks points in all, each with three requirements (its piece, its halo, its piece of another
// field) and a body that does nothing, on one worker: CPU per point where dependences are found and the plan is made,
// and where that is replayed, beside StarPU, which finds the same dependences from data; bytes per point. Then 10^5
// launches of 100 points: time and memory of each tenth of them. The same of turns that each make a region, partitions
// and a launch, and of such that make partitions of one region. Last, launches that read all that others wrote. Gives
// the exit code: 1 beyond a bar.
int regions(const Settings& settings);

// CPU and wall seconds of StarPU for as many tasks, `columns` in each step; none where it is not installed.
struct StarpuTime {
  bool there = false;
  double cpu = 0, wall = 0;
};
StarpuTime starpu_stencil(std::size_t columns, std::size_t steps);

}  // namespace taskspec::bench
