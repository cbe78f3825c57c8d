// What runs on a chip, by its kind: one record each. Nobody else asks for the kind.
#pragma once
#include "interp/hw/chip_run.hpp"
#include "interp/hw/neurons/real_borders.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// A graph of tensors as blocks; or, where its neurons are those of the prelude, which are of real numbers, as a
// network of those: then `lowered` has borders alone.
struct ChipGraph {
  LoweredGraph lowered;
  std::optional<RealBorders> real = {};
  const BlockTable* blocks = nullptr;
};

struct ChipKindRecord {
  ChipKind kind;
  Result<std::unique_ptr<ChipRun>> (*make)(ChipGraph source, const HwOptions& options);
  // Values of the fields of a report, and how it is printed.
  std::vector<Value> (*report)(const ChipRuns& runs, const Chip& chip);
  std::string (*report_text)(const ChipRuns& runs, const Chip& chip);
};

const ChipKindRecord& chip_kind(ChipKind kind);

}  // namespace taskspec
