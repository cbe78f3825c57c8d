// What one piece of a unit needs of its core: its calls, the buffers of their operands, where packets arrive and what
// is moved from there. Addresses come later (buffer_places.hpp).
#pragma once
#include "hwsim/map/rows.hpp"
#include "hwsim/program/program.hpp"

namespace taskspec {

// Packets for one receive buffer, of one delay, that are moved in one phase.
struct PieceInput {
  const NetCluster* cluster = nullptr;
  Box box;  // of it
  std::int32_t delay = 0;
  std::int32_t buffer = 0;  // receive
  std::int32_t phase = 0;   // that moves them
  // Of a stream: of these sources only, and of them so many rows.
  std::vector<std::int32_t> sources = {};
  std::int64_t source_begin = 0, source_end = 0;
  std::int32_t tick = 0;  // in which they are sent
};

struct PieceBuffers {
  std::vector<ChipBuffer> buffers;
  std::vector<ChipPhase> phases;  // of the group: calls and moves, without addresses and cycles
  std::vector<PieceInput> inputs;
  std::vector<std::size_t> like;  // only sizes: by phase, the one with the calls for as many rows
};

struct PieceUse {
  std::int32_t phase = 0, phases = 1;  // of a whole unit: when it runs, of how many
  const UnitRows* rows = nullptr;      // of a stream
  std::int64_t pipeline_rows = 0;      // UnitPlan
  bool only_sizes = false;             // no contents, no runs: to see whether it fits
};

// Error E4002: rows that cannot be taken apart.
Result<PieceBuffers> buffers_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const PieceUse& use);

// What of a box never changes, and the first contents of states; zeros elsewhere.
Array constant_part(const BlockGraph& graph, const NetCluster& cluster, const Box& box);

}  // namespace taskspec
