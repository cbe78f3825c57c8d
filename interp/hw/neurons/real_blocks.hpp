// A network of real neurons as blocks, for chips that run those: CLIF behind sums of products, whose inputs are the
// spikes of others.
//
//   Result<LoweredGraph> made = in_blocks(real, std::move(borders), chip, blocks);
#pragma once
#include "hwsim/chip/chip.hpp"
#include "interp/hw/neurons/real_borders.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

// `borders` has the ports without their blocks. A potential that is read is what is left of it behind the leak. Errors
// E4052: neurons that are no CLIF, synapses that are too many for a matrix, or late each by itself.
Result<LoweredGraph> in_blocks(const RealBorders& real, LoweredGraph borders, const Chip& chip,
                               const BlockTable& blocks);

}  // namespace taskspec
