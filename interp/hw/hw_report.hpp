// What a report of the chip tells: its fields, and the table that print shows.
#pragma once
#include "interp/control/run_picture.hpp"
#include "interp/hw/hw_program.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

using HwPrograms = std::vector<std::shared_ptr<HwProgram>>;

// cycles, time, energy, energy_by, memory, packets, layers, cores.
extern const std::span<const ReportField> hw_report_fields;
std::vector<Value> hw_report_values(const HwPrograms& programs, const Chip& chip);
// Of each program its tables.
std::string hw_report_text(const HwPrograms& programs);
RunPictures hw_pictures(const ChipRuns& runs);  // of those that have any

// Parts of reports, for chips of all kinds. Energies in 1e-4 pJ.
Value energy_value(std::int64_t energy);
Value energy_by(const PerEvent& counts, const Chip& chip);
Value layer_value(const LayerRow& row);
Value core_value(std::int64_t core, std::int64_t bytes, std::int64_t busy, std::int64_t energy);
std::string assumed_text(const Chip& chip);  // which figures are assumed, in one line

}  // namespace taskspec
