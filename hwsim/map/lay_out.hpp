// From a decision, which piece runs on which core in which phase, to the program: buffers with addresses, calls, moves,
// and messages between them.
#pragma once
#include "hwsim/map/buffer_places.hpp"
#include "hwsim/map/piece_buffers.hpp"
#include "hwsim/map/plan.hpp"

namespace taskspec {

// Errors: E4041, a core's memory; E4043, a limit of the chip; E4044, what no packet can carry.
Result<ChipProgram> lay_out(std::shared_ptr<const Chip> chip, ChipExtent chips, ChipNet net, const ChipPlan& plan);

}  // namespace taskspec
