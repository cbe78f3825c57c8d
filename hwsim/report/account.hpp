// What a step of a mapped program costs, by core and by layer: events, from its calls, moves and packets and from what
// the clock saw; and the table that reports show.
#pragma once
#include "hwsim/energy/energy.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec {

// One unit of the net: an axon with its soma.
struct LayerRow {
  std::string name;
  std::int64_t cores = 0, phase = 0;
  std::int64_t cycles = 0;         // of its slowest core: axon, soma and moves
  std::int64_t multiply_adds = 0;  // per step
  std::int64_t bytes = 0;          // of all its buffers
  std::int64_t packets = 0;        // sent per step
  std::int64_t energy = 0;         // per step, 1e-4 pJ
  double utilisation = 0;          // multiply-adds per clk and core, of what the units can
};

struct ChipAccount {
  EnergyCounts counts;  // of a step, without idle cores
  std::vector<LayerRow> layers;
  std::int64_t memory = 0;    // bytes of the fullest core
  std::int64_t packets = 0;   // per step
  std::int64_t busy_clk = 0;  // of all cores, per step
  std::int64_t cores_in_chips = 0;
};

ChipAccount account_of(const ChipProgram& program, const ChipTiming& timing);

// Of so many steps that took so many cycles: what happened, idle cores included.
PerEvent counts_of(const ChipAccount& account, std::int64_t steps, std::int64_t cycles);

// A table of the layers, for a terminal.
std::string layers_text(const ChipProgram& program, const ChipTiming& timing, const ChipAccount& account);

}  // namespace taskspec
