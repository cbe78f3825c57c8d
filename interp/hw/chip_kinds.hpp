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
  std::string (*text)(const ChipPicture& picture);  // the tables of a run
};

const ChipKindRecord& chip_kind(ChipKind kind);

}  // namespace taskspec
