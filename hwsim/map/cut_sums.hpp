// Products whose weights of one group of outputs do not fit a core: parts along r, added by a CADD in place of the
// block, which has its bias. The block keeps its number and its values; parts get numbers behind all others.
#pragma once
#include "hwsim/chip/chip.hpp"
#include "hwsim/net/net.hpp"

namespace taskspec {

// The same net if nothing has to be cut. `blocks`: where CADD is. Errors: those of chip_net.
Result<ChipNet> cut_sums(const ChipNet& net, const Chip& chip, const BlockTable& blocks);

}  // namespace taskspec
