// What a step takes at least: frames can come no closer than the slowest group of cores goes on, whether what it makes
// leaves the chip or not, nor than the busiest port takes their packets.
#pragma once
#include "hwsim/noc/places.hpp"
#include "hwsim/program/program.hpp"

namespace taskspec {

// Of a group whose phases take so long by themselves.
inline std::int64_t step_of(const std::vector<std::int64_t>& phases, const ChipSync& sync) {
  std::int64_t step = 0;
  for (const std::int64_t clk : phases)
    step += sync.mode == SyncMode::fixed ? std::max(clk, sync.phase_clk) : clk + sync.phase_clk_overhead;
  return step;
}

// Of the slowest group, if nobody ever kept it waiting: packets leave one per clk, and a move waits for no send.
std::int64_t slowest_step(const ChipProgram& program);

// The injection port of a core or of the host or, if the model knows queues, the link, border or ejection port that the
// packets of a step hold for longest.
struct BusiestPort {
  std::int64_t clk = 0;
  NocPlace place;
};
BusiestPort busiest_port(const ChipProgram& program, NocModel noc);

}  // namespace taskspec
