// From a decision, which piece runs on which core in which phase, to the program: buffers with addresses, calls, moves,
// and messages between them.
#pragma once
#include "hwsim/map/buffer_places.hpp"
#include "hwsim/map/piece_buffers.hpp"

namespace taskspec {

struct UnitPlan {
  ChipUnit unit;
  PieceGrid grid;
  std::vector<UnitPiece> pieces;
  std::int32_t group = 0, phase = 0;
  std::vector<std::int32_t> cores;  // by piece: position among the cores of the program
};

struct ChipPlan {
  std::vector<UnitPlan> units;                      // in topological order
  std::vector<std::int32_t> group_phases;           // how many
  std::vector<std::int32_t> group_of_core, places;  // by position; place: a first one, y * width + x
  std::int32_t depth = 1;                           // as in MapOptions
};

// Errors: E4041, a core's memory; E4043, a limit of the chip; E4044, what no packet can carry.
Result<ChipProgram> lay_out(std::shared_ptr<const Chip> chip, ChipExtent chips, ChipNet net, const ChipPlan& plan);

}  // namespace taskspec
