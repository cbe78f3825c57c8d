// From a decision, which piece runs on which core in which phase, to the program: buffers with addresses, calls, moves,
// and messages between them.
#pragma once
#include "hwsim/map/buffer_places.hpp"
#include "hwsim/map/piece_buffers.hpp"
#include "hwsim/map/plan.hpp"

namespace taskspec {

// Errors: E4041, a core's memory; E4043, a limit of the chip; E4044, what no packet can carry.
Result<ChipProgram> lay_out(std::shared_ptr<const Chip> chip, ChipExtent chips, ChipNet net, const ChipPlan& plan);

// The same for some of the units: their cores, and the messages among them and with the host. Chip and net stand in the
// program already; all else is made anew. What is at fault goes to `diags`; cores are there all the same. Without
// messages (`talks`) some of the pieces of a unit will do.
void lay_out_part(ChipProgram& program, const ChipPlan& plan, Diags& diags, bool talks);

}  // namespace taskspec
