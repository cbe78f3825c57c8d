// What steps on a chip cost, by layer, by core and by link. Of a mapped program: events, bytes and packets, out of the
// program alone, so that no clock and no number of frames changes them; and how long cores were busy, which the clock
// saw. Of spiking populations see spike_picture.hpp.
#pragma once
#include <array>

#include "hwsim/energy/energy.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec {

// What the bytes of a core are for, in the order of BufferUse.
inline constexpr std::array<std::string_view, 7> memory_parts = {"weights", "state",  "input",    "receive",
                                                                 "sums",    "result", "registers"};
using BytesBy = std::array<std::int64_t, memory_parts.size()>;

// One unit of the net: an axon with its soma, or a population of neurons.
struct LayerRow {
  std::string name;
  std::int64_t neurons = 0;                      // 0: of a unit of blocks
  std::int64_t cores = 0, phase = 0, group = 0;  // phase of a population: so many ticks late
  std::int64_t cycles = 0;                       // of its slowest core: axon, soma and moves
  std::int64_t multiply_adds = 0;
  std::int64_t axon_bytes = 0;  // that its multiply-adds move through the port
  std::int64_t bytes = 0;       // of all its buffers
  BytesBy bytes_by{};
  std::int64_t packets = 0;  // sent
  std::int64_t energy = 0;   // 1e-4 pJ, without what cores take by the clock
  double utilisation = 0;    // multiply-adds per clk and core, of what the units can
};

// A core in use.
struct CoreRow {
  std::int32_t core = 0;  // y * width + x over all chips
  std::int64_t group = 0;
  std::vector<std::int32_t> layers;  // by phase
  std::int64_t bytes = 0;            // in use at the worst moment
  BytesBy bytes_by{};                // of all buffers: those that never live at once may share bytes
  std::int64_t busy = 0;             // clk in which some stage works
  std::int64_t multiply_adds = 0, packets = 0;
};

// A link between routers of a mesh, by the router that packets leave.
struct LinkRow {
  std::int32_t router = 0, side = 0;  // router_y * routers_x + router_x; E W N S
  std::int64_t packets = 0;
};

// What the host sends into a row of cores, and what it takes from there.
struct HostRow {
  std::int32_t row = 0;
  std::int64_t sent = 0, taken = 0;
};

struct ChipAccount {
  // That events, packets, cycles and times are of: 1 where each step is like the others, as those of a mapped program
  // are, and all that there were where they differ, as those of spikes do.
  std::int64_t steps = 1;
  EnergyCounts counts;  // without idle cores; by position in `cores` and `layers`
  std::vector<LayerRow> layers;
  std::vector<CoreRow> cores;
  std::vector<LinkRow> links;  // that carry something
  std::vector<HostRow> hosts;
  std::int64_t memory = 0;    // bytes of the fullest core
  std::int64_t packets = 0;   // those of the host too
  std::int64_t busy_clk = 0;  // of all cores
  std::int64_t cores_in_chips = 0;
};

ChipAccount account_of(const ChipProgram& program, const ChipTiming& timing);

// Of so many steps, a multiple of those of the account, that took so many cycles: what happened, idle cores included.
PerEvent counts_of(const ChipAccount& account, std::int64_t steps, std::int64_t cycles);

}  // namespace taskspec
