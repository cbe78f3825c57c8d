// A process for each shard, joined by sockets: nothing can be shared by mistake, and one may die. For tests; ranks of
// MPI do the same on many machines.
//
//   const auto ends = run_in_processes(4, [](Transport& transport) { return Bytes{...}; });
//   ends[2].status == 0;  ends[2].result
#pragma once
#include <functional>
#include <vector>

#include "interp/shards/transport/transport.hpp"

namespace taskspec {

struct ProcessEnd {
  int status = 0;  // of exit; 128 + the signal that ended it
  Bytes result;
};

// Forks: call it while the process has one thread. Every process ends before this returns, or when its parent does.
// Those that still run after `seconds` are killed (status 137). An exception in `run` ends its process with status 70.
std::vector<ProcessEnd> run_in_processes(std::size_t shards, const std::function<Bytes(Transport&)>& run,
                                         double seconds = 60);

}  // namespace taskspec
