// A run on a chip for files and pages.
#pragma once
#include "hwsim/report/picture.hpp"

namespace taskspec {

// {"title": ..., "chip": ..., "layers": [...], "cores": [...], "links": [[router, side, packets], ...], ...}; energies
// in pJ, times in clk. `whole`: with stages and populations, which a page draws.
std::string chip_json(const ChipPicture& picture, bool whole);

// Rows of one table, the same columns for the chip (all steps), its layers and its cores (of one step), and a row for
// each figure of the chip that is assumed.
std::string chip_csv_head();
std::string chip_csv(const ChipPicture& picture);

// Events of Chrome's trace format, each with ",\n" before it: a process with a row per core and stage, in the clock of
// the chip.
std::string chip_trace(const ChipPicture& picture, int process);

// Of too many stages only the last frames are shown, in which nothing fills any more: those from this one on.
std::int64_t first_frame(const std::vector<StageTime>& stages, std::size_t most);

std::string_view stage_name(StageTime::Stage stage);

}  // namespace taskspec
