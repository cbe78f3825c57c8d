// What a report of the chip tells: its fields, and the table that print shows.
#pragma once
#include "interp/control/run_picture.hpp"
#include "interp/hw/chip_run.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

// cycles, time, energy, energy_by, memory, packets, layers, cores.
extern const std::span<const ReportField> hw_report_fields;
std::vector<Value> hw_report_values(const ChipRuns& runs, const Chip& chip);
// Of each run its tables, as its kind of chip has them.
std::string hw_report_text(const ChipRuns& runs, const Chip& chip);
RunPictures hw_pictures(const ChipRuns& runs);  // of those that have any

}  // namespace taskspec
