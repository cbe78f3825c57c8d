#include "interp/hw/chip_kinds.hpp"

#include "interp/hw/hw_report.hpp"
#include "interp/hw/neurons/real_blocks.hpp"
#include "interp/hw/spike_run.hpp"

namespace taskspec {

namespace {

Result<std::unique_ptr<ChipRun>> mapped(ChipGraph source, const HwOptions& options) {
  if (source.real) {
    Result<LoweredGraph> blocks = in_blocks(*source.real, std::move(source.lowered), *options.chip, *source.blocks);
    if (!blocks) return blocks.diags();
    source.lowered = *std::move(blocks);
  }
  HwOptions with_blocks = options;
  if (source.blocks) with_blocks.blocks = *source.blocks;
  Result<std::unique_ptr<HwProgram>> made = HwProgram::make(std::move(source.lowered), with_blocks);
  if (!made) return made.diags();
  return std::unique_ptr<ChipRun>(*std::move(made));
}

HwPrograms programs_of(const ChipRuns& runs) {
  HwPrograms programs;
  for (const std::shared_ptr<ChipRun>& run : runs) programs.push_back(std::static_pointer_cast<HwProgram>(run));
  return programs;
}

std::vector<Value> mapped_report(const ChipRuns& runs, const Chip& chip) {
  return hw_report_values(programs_of(runs), chip);
}
std::string mapped_text(const ChipRuns& runs, const Chip&) { return hw_report_text(programs_of(runs)); }

constexpr ChipKindRecord kinds[] = {
    {ChipKind::primitive, mapped, mapped_report, mapped_text},
    {ChipKind::crossbar, SpikeRun::make, spike_report, spike_report_text},
    {ChipKind::synaptic, SpikeRun::make, spike_report, spike_report_text},
};

}  // namespace

const ChipKindRecord& chip_kind(ChipKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

}  // namespace taskspec
