// Products whose sums are cut along r: parts of them, added by a CADD in place of the block, which has its bias. The
// block keeps its number and its values; parts get numbers behind all others and are called conv.0, conv.1.
//
//   SumCuts cuts = sum_cuts(net, chip, 160, CutsWhen::needed);       {conv, 2}
//   ChipNet parts = cut_sums(net, cuts, blocks).value_or_throw();
#pragma once
#include "hwsim/chip/chip.hpp"
#include "hwsim/net/net.hpp"

namespace taskspec {

struct SumCut {
  BlockId block;
  std::int64_t parts = 1;
  friend bool operator==(const SumCut&, const SumCut&) = default;
};
using SumCuts = std::vector<SumCut>;  // each block once, ascending

// Needed: where the weights of one group of outputs fit no core, however the rest is cut. Early: where they fill more
// than three quarters of the banks, which leaves room for rows that stream.
enum class CutsWhen : std::uint8_t { needed, early };
SumCuts sum_cuts(const ChipNet& net, const Chip& chip, std::int64_t cores, CutsWhen when);

// Why the sums of a work cannot be cut so; none: they can.
std::optional<std::string> cut_fault(const ChipNet& net, std::size_t work, std::int64_t parts);

// The same net without cuts. `blocks`: where CADD is. Errors: those of chip_net; E4049, a cut that cannot be.
Result<ChipNet> cut_sums(const ChipNet& net, const SumCuts& cuts, const BlockTable& blocks);

}  // namespace taskspec
