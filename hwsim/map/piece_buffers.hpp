// What one piece of a unit needs of its core: its calls, the buffers of their operands, where packets arrive and what
// is moved from there. Addresses come later (buffer_places.hpp).
#pragma once
#include "hwsim/map/pieces.hpp"
#include "hwsim/program/program.hpp"

namespace taskspec {

// Packets of one delay for one cluster.
struct PieceInput {
  const NetCluster* cluster = nullptr;
  Box box;  // of it
  std::int32_t delay = 0;
  std::int32_t buffer = 0;  // receive
};

struct PieceBuffers {
  std::vector<ChipBuffer> buffers;
  std::optional<ChipCall> axon, soma;
  std::vector<PieceInput> inputs;
  std::vector<ChipMove> moves;  // into its inputs, before its phase
  std::int32_t result() const { return soma ? soma->result : axon->result; }
};

// `phase` of `phases`: when its buffers live.
PieceBuffers buffers_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, std::int32_t phase,
                        std::int32_t phases);

// What of a box never changes, and the first contents of states; zeros elsewhere.
Array constant_part(const BlockGraph& graph, const NetCluster& cluster, const Box& box);

}  // namespace taskspec
