#include "interp/hw/chip_kinds.hpp"

#include "hwsim/report/chip_text.hpp"
#include "hwsim/report/spike_picture.hpp"
#include "interp/hw/hw_program.hpp"
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

constexpr ChipKindRecord kinds[] = {
    {ChipKind::primitive, mapped, chip_text},
    {ChipKind::crossbar, SpikeRun::make, spike_text},
    {ChipKind::synaptic, SpikeRun::make, spike_text},
};

}  // namespace

const ChipKindRecord& chip_kind(ChipKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

}  // namespace taskspec
