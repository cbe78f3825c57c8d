// Nets that are mapped and run beside the exact engine, with what tells whether their rows stream.
#pragma once
#include "hwsim/map/mapper.hpp"

namespace taskspec::tests {

// The first error, with its notes.
std::string told(const Diags& diags);
std::shared_ptr<const Chip> tianjicx();

struct StreamRun {
  std::shared_ptr<const ChipProgram> program;
  std::size_t most_phases = 0, rings = 0, pipelines = 0;
  std::size_t long_rings = 0;      // that go on from step to step
  std::size_t double_batches = 0;  // receive buffers with room for two batches of rows
  std::size_t ahead = 0;           // cores in mode A2S2
  std::size_t shared = 0;          // cores with several units of which one streams
};

// Mapped, and steps on both: each block makes the same.
StreamRun run_beside_engine(const std::shared_ptr<const BlockGraph>& graph, const MapOptions& options, int steps = 2);
StreamRun run_program(const std::shared_ptr<const BlockGraph>& graph, ChipProgram program, int steps);

}  // namespace taskspec::tests
